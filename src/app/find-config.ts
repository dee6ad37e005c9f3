export { findConfig } from '../plan/find-config.js'
