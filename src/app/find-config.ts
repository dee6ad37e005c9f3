export { checkConfigPath, configIn, findConfig } from '../plan/find-config.js'
