import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.js'
import { makeQueryClient } from './data/query-client.js'
import './design/base.css'
import { showChosenTheme } from './design/theme.js'

showChosenTheme()
const root = document.getElementById('root')
if (root === null) throw new Error('the page has no element with the id root')
createRoot(root).render(
  <StrictMode>
    <App client={makeQueryClient()} />
  </StrictMode>,
)
