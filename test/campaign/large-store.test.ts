// The tests of the dashboard on a store with 100,000 triggers and a million runs.
process.env['LARGE'] = '1'
await import('../browser/large.test.js')
