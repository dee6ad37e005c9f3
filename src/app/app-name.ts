export { appNameOf } from '../plan/app-name.js'
