import { KubeConfig } from '@kubernetes/client-node'
import type { Authentication } from './access.ts'

/**
 * Authenticates as a kubeconfig says that names a plug-in or a provider, by means of the official client.
 *
 * It keeps what the plug-in answered until that expires; a refused credential is asked for anew.
 */
export function pluginAuthentication(
  kubeconfig: string,
  context: string,
  directory: string,
): (renew: boolean) => Promise<Authentication> {
  function load(): KubeConfig {
    const config = new KubeConfig()
    config.loadFromString(kubeconfig)
    config.makePathsAbsolute(directory)
    config.setCurrentContext(context)
    return config
  }
  let config = load()
  return async (renew) => {
    if (renew) config = load()
    const options: { headers?: Record<string, string>; cert?: unknown; key?: unknown } = {}
    await config.applyToHTTPSOptions(options)
    const authorization = options.headers?.['Authorization']
    return {
      ...(authorization === undefined ? {} : { authorization }),
      ...(isPem(options.cert) && isPem(options.key)
        ? { certificate: options.cert.toString(), privateKey: options.key.toString() }
        : {}),
    }
  }
}

function isPem(value: unknown): value is string | Buffer {
  return typeof value === 'string' || value instanceof Buffer
}
