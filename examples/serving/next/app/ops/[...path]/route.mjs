// The HTTP API of Rota as a route handler of Next.js, below /ops. In your project this file is
// app/ops/[...path]/route.ts, and a module of yours creates the app once per process.
import { app, authorize } from '../../../../shared.mjs'

// A route handler needs Node.js: Rota opens files and connections.
export const runtime = 'nodejs'
export const dynamic = 'force-dynamic'

const api = app.handler({ authorize })

export const GET = (request) => api(request)
export const POST = (request) => api(request)
export const PUT = (request) => api(request)
export const PATCH = (request) => api(request)
export const DELETE = (request) => api(request)
