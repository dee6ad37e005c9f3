import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The server that answers the API while the dashboard is developed; default: the port of `rota up`. */
const api = process.env['ROTA_API'] ?? 'http://127.0.0.1:7070'

export default defineConfig({
  root: import.meta.dirname,
  // Relative: the page works under any path at which a handler is mounted.
  base: './',
  plugins: [react()],
  build: {
    target: 'es2023',
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    // A script of the page must come from the server: the content security policy allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { '/api': api } },
})
