import { dirname, resolve } from 'node:path'
import type { Authentication, ClusterAccess } from './cluster-access.ts'
import type { CredentialPlugin } from './credential-plugin.ts'
import { KubeConfigError } from './errors.ts'
import { fileToken, readCredential } from './in-cluster.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Loads the cluster and the user of a kubeconfig's context, by default the current one.
 *
 * Users may have certificates, a token, a token file, a password, or a credential plug-in (`exec`).
 *
 * @throws KubeConfigError naming the field that is missing or wrong
 */
export async function loadKubeconfig(path: string, context?: string): Promise<ClusterAccess> {
  const text = await readCredential(path, 'kubeconfig')
  const config = new Section(await parseConfig(path, text), path, dirname(path), '')
  const contextName = context ?? config.text('current-context')
  if (contextName === undefined) throw config.refuse('current-context', '', 'name a context of the file')
  const chosen = config.named('contexts', contextName, 'context')
  const cluster = config.named('clusters', chosen.require('cluster'), 'cluster')
  const user = config.named('users', chosen.require('user'), 'user')
  const proxy = cluster.text('proxy-url')
  if (proxy !== undefined) throw cluster.refuse('proxy-url', proxy, 'reach the API server without a proxy')
  return {
    server: cluster.require('server').replace(/\/+$/, ''),
    ca: await cluster.pem('certificate-authority'),
    tlsServerName: cluster.text('tls-server-name'),
    isVerified: cluster.fields['insecure-skip-tls-verify'] !== true,
    authenticate: await authenticationOf(user),
  }
}

async function authenticationOf(user: Section): Promise<(renew: boolean) => Promise<Authentication>> {
  if (user.fields['auth-provider'] !== undefined) {
    throw user.refuse('auth-provider', '', 'use a credential plug-in (exec), as Kubernetes has since 1.26')
  }
  if (user.fields['exec'] !== undefined) {
    return (await import('./credential-plugin.ts')).pluginAuthentication(pluginOf(user.section('exec')))
  }
  const certificate = await user.pem('client-certificate')
  const privateKey = await user.pem('client-key')
  if (certificate !== undefined && privateKey !== undefined) {
    const authentication = { certificate, privateKey }
    return () => Promise.resolve(authentication)
  }
  const tokenFile = user.text('tokenFile')
  const token = user.text('token')
  if (tokenFile !== undefined) return fileToken(resolve(user.directory, tokenFile))
  if (token !== undefined) return () => Promise.resolve({ authorization: `Bearer ${token}` })
  const name = user.text('username')
  if (name === undefined) return () => Promise.resolve({})
  const basic = Buffer.from(`${name}:${user.text('password') ?? ''}`).toString('base64')
  return () => Promise.resolve({ authorization: `Basic ${basic}` })
}

function pluginOf(exec: Section): CredentialPlugin {
  const command = exec.require('command')
  const { args, env } = exec.fields
  return {
    // As in client-go: a path is relative to the kubeconfig, a bare name is looked up in PATH.
    command: command.includes('/') ? resolve(exec.directory, command) : command,
    args: Array.isArray(args) ? args.map(String) : [],
    env: Array.isArray(env) ? env.filter(isVariable) : [],
  }
}

function isVariable(value: unknown): value is CredentialPlugin['env'][number] {
  return isFields(value) && typeof value['name'] === 'string' && typeof value['value'] === 'string'
}

/** Kubeconfigs are YAML; those that programs write are often JSON, which needs no parser of its own. */
async function parseConfig(path: string, text: string): Promise<Fields> {
  let config: unknown
  try {
    config = text.trimStart().startsWith('{') ? JSON.parse(text) : (await import('yaml')).parse(text)
  } catch (cause) {
    throw new KubeConfigError(
      'Kubeconfig cannot be parsed',
      { source: path, field: '', value: '', cure: 'write valid YAML or JSON' },
      { cause },
    )
  }
  return isFields(config) ? config : {}
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A part of a kubeconfig that knows where it stands, for errors. */
class Section {
  readonly fields: Fields
  readonly directory: string
  readonly #source: string
  readonly #place: string

  constructor(fields: Fields, source: string, directory: string, place: string) {
    this.fields = fields
    this.directory = directory
    this.#source = source
    this.#place = place
  }

  text(field: string): string | undefined {
    const value = this.fields[field]
    if (value === undefined || value === null || value === '') return undefined
    if (typeof value !== 'string') throw this.refuse(field, JSON.stringify(value), 'write a string')
    return value
  }

  require(field: string): string {
    const value = this.text(field)
    if (value === undefined) throw this.refuse(field, '', 'set the field')
    return value
  }

  /** Entry `name` of the list `list`, whose content is in the field `content`. */
  named(list: string, name: string, content: string): Section {
    const entries = this.fields[list]
    const entry: unknown = Array.isArray(entries)
      ? entries.find((candidate) => isFields(candidate) && candidate['name'] === name)
      : undefined
    if (!isFields(entry)) throw this.refuse(list, name, `add an entry of this name to ${list}`)
    return new Section(entry, this.#source, this.directory, `${list}[${name}].`).section(content)
  }

  /** The mapping in a field. */
  section(field: string): Section {
    const fields = this.fields[field]
    return new Section(
      isFields(fields) ? fields : {},
      this.#source,
      this.directory,
      `${this.#place}${field}.`,
    )
  }

  /** PEM from `<field>-data` (base64) or from the file that `<field>` names. */
  async pem(field: string): Promise<string | undefined> {
    const data = this.text(`${field}-data`)
    if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8')
    const file = this.text(field)
    return file === undefined
      ? undefined
      : readCredential(resolve(this.directory, file), `${this.#place}${field}`)
  }

  refuse(field: string, value: string, cure: string): KubeConfigError {
    return new KubeConfigError('Kubeconfig cannot be used', {
      source: this.#source,
      field: `${this.#place}${field}`,
      value,
      cure,
    })
  }
}
