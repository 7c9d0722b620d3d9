// The one module of the official client that is needed: the whole takes most of a second to import.
import { ExecAuth } from '@kubernetes/client-node/dist/exec_auth.js'
import type { RequestOptions } from 'node:https'
import type { Authentication } from './cluster-access.ts'
import { KubeConfigError } from './errors.ts'

/** A command that prints an ExecCredential, as the `exec` field of a kubeconfig's user names it. */
export interface CredentialPlugin {
  /** Absolute, or found by `PATH`. */
  readonly command: string
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
}

/**
 * Authenticates with what a plug-in prints. That is kept until it expires, or is refused.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
 */
export function pluginAuthentication(plugin: CredentialPlugin): (renew: boolean) => Promise<Authentication> {
  const user = { name: 'plug-in', exec: plugin }
  let runner = new ExecAuth()
  return async (renew) => {
    if (renew) runner = new ExecAuth()
    const options: RequestOptions = {}
    try {
      await runner.applyAuthentication(user, options)
    } catch (cause) {
      throw new KubeConfigError(
        'Credential plug-in failed',
        {
          source: plugin.command,
          field: 'exec',
          value: plugin.args.join(' '),
          cure: 'run the command by hand',
        },
        { cause },
      )
    }
    const headers = new Map(Object.entries(options.headers ?? {}))
    const authorization: unknown = headers.get('Authorization')
    return {
      ...(typeof authorization === 'string' ? { authorization } : {}),
      ...(typeof options.cert === 'string' && typeof options.key === 'string'
        ? { certificate: options.cert, privateKey: options.key }
        : {}),
    }
  }
}
