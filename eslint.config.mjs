// For editors; `npm run check` takes the same configuration from tools/lint.
export { config as default } from './tools/lint/src/config.ts'
