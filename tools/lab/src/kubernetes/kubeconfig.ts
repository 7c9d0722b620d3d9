import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { KubeconfigError } from '../errors.ts'

/** How to reach an API server, and as whom; certificates and keys are PEM. */
export interface ServerAccess {
  readonly server: string
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly token?: string
}

interface Kubeconfig {
  readonly 'current-context'?: string
  readonly contexts?: readonly Named<'context', { readonly cluster?: string; readonly user?: string }>[]
  readonly clusters?: readonly Named<'cluster', ClusterEntry>[]
  readonly users?: readonly Named<'user', UserEntry>[]
}

type Named<K extends string, T> = { readonly name?: string } & { readonly [key in K]?: T }

interface ClusterEntry {
  readonly server?: string
  readonly 'certificate-authority'?: string
  readonly 'certificate-authority-data'?: string
}

interface UserEntry {
  readonly 'client-certificate'?: string
  readonly 'client-certificate-data'?: string
  readonly 'client-key'?: string
  readonly 'client-key-data'?: string
  readonly token?: string
  readonly tokenFile?: string
  readonly exec?: unknown
}

/**
 * Reads the server and user of a kubeconfig's current context, or the first of each where there is no context.
 *
 * @throws {KubeconfigError} if the file is missing, is not understood, or names no server or user
 */
export function readKubeconfig(path: string): ServerAccess {
  if (!existsSync(path))
    throw new KubeconfigError('there is no kubeconfig', {
      path,
      cure: 'name a file that exists; that of a lab is made with it (npm run lab -- up)',
    })
  const config = parseConfig(path)
  const context = config.contexts?.find(({ name }) => name === config['current-context'])?.context
  const cluster = entryOf(config.clusters, context?.cluster)?.cluster
  const user = entryOf(config.users, context?.user)?.user
  if (cluster?.server === undefined || user === undefined)
    throw new KubeconfigError('the kubeconfig names no server or no user', {
      path,
      cure: 'choose a context that has both (kubectl config use-context NAME)',
    })
  if (user.exec !== undefined)
    throw new KubeconfigError('the kubeconfig wants a program to be run for the user', {
      path,
      cure: 'use one with a certificate or a token (kubectl create token NAME)',
    })
  const pem = (name: string, data: string | undefined, file: string | undefined) =>
    data === undefined && file === undefined ? {} : { [name]: readEntry(path, data, file) }
  return {
    server: cluster.server.replace(/\/$/, ''),
    ...pem('ca', cluster['certificate-authority-data'], cluster['certificate-authority']),
    ...pem('cert', user['client-certificate-data'], user['client-certificate']),
    ...pem('key', user['client-key-data'], user['client-key']),
    ...(user.token === undefined ? {} : { token: user.token }),
    ...(user.tokenFile === undefined ? {} : { token: readEntry(path, undefined, user.tokenFile).trim() }),
  }
}

function parseConfig(path: string): Kubeconfig {
  try {
    const config: unknown = parse(readFileSync(path, 'utf8'))
    return typeof config === 'object' && config !== null ? config : {}
  } catch (cause) {
    const details = { path, cure: 'make it a file of YAML as kubectl writes it' }
    throw new KubeconfigError('the kubeconfig is not understood', details, { cause })
  }
}

function entryOf<T extends { readonly name?: string }>(
  entries: readonly T[] | undefined,
  name: string | undefined,
): T | undefined {
  return name === undefined ? entries?.[0] : entries?.find((entry) => entry.name === name)
}

/** What stands in the file itself, in base64, or in a file beside it. */
function readEntry(path: string, data: string | undefined, file = ''): string {
  if (data !== undefined) return Buffer.from(data, 'base64').toString()
  const beside = resolve(dirname(path), file)
  if (!existsSync(beside))
    throw new KubeconfigError('a file that the kubeconfig names is missing', {
      path: beside,
      cure: `bring it back, or correct ${path}`,
    })
  return readFileSync(beside, 'utf8')
}
