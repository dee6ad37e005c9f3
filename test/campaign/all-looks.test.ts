// The accessibility of all pages in each theme at each width.
process.env['ALL_LOOKS'] = '1'
await import('../browser/accessibility.test.js')
