export { openSecureServing, type SecureServingOptions } from './secure-serving.ts'
export { secureServingSettings, type SecureServingConfig } from './settings.ts'
