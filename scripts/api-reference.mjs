// Writes the OpenAPI document, the reference page and the types of the client from the routes. Run `npm run docs:api`
// when you change a route.
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { apiFiles } from './api-files.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
for (const [path, text] of Object.entries(await apiFiles())) writeFileSync(join(root, path), text)
