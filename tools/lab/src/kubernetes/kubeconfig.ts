import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { KubeconfigError } from '../errors.ts'

/** How to reach an API server, and as whom; certificates and keys are PEM. */
export interface ServerAccess {
  readonly server: string
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly token?: string
}

const clusterEntry = z.object({
  server: z.url({ protocol: /^https?$/ }).optional(),
  'certificate-authority': z.string().optional(),
  'certificate-authority-data': z.string().optional(),
})

const userEntry = z.object({
  'client-certificate': z.string().optional(),
  'client-certificate-data': z.string().optional(),
  'client-key': z.string().optional(),
  'client-key-data': z.string().optional(),
  token: z.string().optional(),
  tokenFile: z.string().optional(),
  exec: z.unknown().optional(),
})

const contextEntry = z.object({ cluster: z.string().optional(), user: z.string().optional() })

/** A list may be null where kubectl has deleted everything from it. */
function listOf<T extends z.ZodType>(entry: T) {
  return z
    .array(entry)
    .nullish()
    .transform((entries) => entries ?? [])
}

/** As far as it is read here. */
const kubeconfig = z.object({
  'current-context': z.string().optional(),
  contexts: listOf(z.object({ name: z.string().optional(), context: contextEntry.nullish() })),
  clusters: listOf(z.object({ name: z.string().optional(), cluster: clusterEntry.nullish() })),
  users: listOf(z.object({ name: z.string().optional(), user: userEntry.nullish() })),
})

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
  const context = config.contexts.find(({ name }) => name === config['current-context'])?.context
  const cluster = entryOf(config.clusters, context?.cluster)?.cluster
  const user = entryOf(config.users, context?.user)?.user ?? undefined
  if (cluster?.server === undefined || user === undefined)
    throw new KubeconfigError('the kubeconfig names no server or no user', {
      path,
      cure: 'choose a context that has both (kubectl config use-context NAME)',
    })
  if ((user.exec ?? undefined) !== undefined)
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

function parseConfig(path: string): z.output<typeof kubeconfig> {
  let content: unknown
  try {
    content = parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    const details = { path, cure: 'make it a file of YAML as kubectl writes it' }
    throw new KubeconfigError('the kubeconfig is not understood', details, { cause })
  }
  const read = kubeconfig.safeParse(content ?? {})
  if (read.success) return read.data
  const [{ path: field, message } = { path: [], message: '' }] = read.error.issues
  const cure = `make it a file as kubectl writes it; ${field.length === 0 ? 'the whole' : field.join('.')}: ${message}`
  throw new KubeconfigError('the kubeconfig is not understood', { path, cure })
}

function entryOf<T extends { readonly name?: string | undefined }>(
  entries: readonly T[],
  name: string | undefined,
): T | undefined {
  return name === undefined ? entries[0] : entries.find((entry) => entry.name === name)
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
