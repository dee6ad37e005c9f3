// The laws of the stores with many random stories.
process.env['STORIES'] ??= '500'
await import('../../src/store/sqlite/sqlite.test.js')
await import('../../src/store/files/files.test.js')
await import('../../src/store/postgres/postgres.test.js')
