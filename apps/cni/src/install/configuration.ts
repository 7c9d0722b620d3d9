import { readFileSync } from 'node:fs'
import { isAtLeast, isSupported, supportedVersions } from '../plugin/versions.ts'
import { CniVersionUnknownError } from './errors.ts'
import { replaceFile } from './replace-file.ts'

/** Only root may read it: kubelet and the runtime are root. */
const mode = 0o600

/**
 * The newest version that every runtime and meta plugin in use speaks.
 *
 * Nothing on a node says which versions its runtime speaks: containerd 1.7 takes no pod with 1.1.0. The specification lets a
 * configuration offer several versions, of which a runtime takes the newest that it knows. That is not the default, because Multus
 * 4.2 takes the newest by itself, and then hands a result of 1.1.0 to a runtime that knows 1.0.0, and refuses default routes.
 */
export const defaultVersion = '1.0.0'

/** What earlier installations and the original write. */
const earlierVersion = '0.3.1'

export interface ConfigurationSettings {
  readonly serverSocket: string
  /** Empty: what an operator wrote into the file, else {@link defaultVersion}. */
  readonly cniVersions: readonly string[]
}

/** Which versions a configuration is for: one that every runtime understands, and a list for those that know lists. */
interface Versions {
  readonly cniVersion: string
  readonly cniVersions?: readonly string[]
}

/**
 * Writes the configuration unless it is there, byte for byte; answers whether anything was written.
 *
 * Versions that somebody wrote into the file stay, unless the settings name some.
 */
export function installConfiguration(path: string, settings: ConfigurationSettings): boolean {
  const versions = offered(settings.cniVersions) ?? writtenByOperator(path) ?? { cniVersion: defaultVersion }
  return replaceFile(path, renderConfiguration(settings.serverSocket, versions), mode)
}

/** @throws CniVersionUnknownError */
export function requireKnownVersions(versions: readonly string[]): void {
  const unknown = versions.find((version) => !isSupported(version))
  if (unknown === undefined) return
  throw new CniVersionUnknownError({
    field: '--cni-versions',
    value: unknown,
    cure: `write some of ${supportedVersions.join(', ')}`,
  })
}

function renderConfiguration(serverSocket: string, versions: Versions): string {
  const configuration = {
    name: 'kube-ovn',
    ...versions,
    plugins: [
      { type: 'kube-ovn', server_socket: serverSocket },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  }
  return `${JSON.stringify(configuration, undefined, 2)}\n`
}

/** A runtime that does not know lists takes the oldest. */
function offered(versions: readonly string[]): Versions | undefined {
  const ascending = versions.toSorted((a, b) => (a === b ? 0 : isAtLeast(a, b) ? 1 : -1))
  const [oldest] = ascending
  if (oldest === undefined) return undefined
  return ascending.length === 1 ? { cniVersion: oldest } : { cniVersion: oldest, cniVersions: ascending }
}

function writtenByOperator(path: string): Versions | undefined {
  const { cniVersion, cniVersions } = readVersions(path)
  if (typeof cniVersion !== 'string' || !isSupported(cniVersion)) return undefined
  if (cniVersions === undefined)
    return [defaultVersion, earlierVersion].includes(cniVersion) ? undefined : { cniVersion }
  if (!isListOfTexts(cniVersions) || !cniVersions.every(isSupported)) return undefined
  return { cniVersion, cniVersions }
}

/** What a file that is not there, or can not be read, says, is nothing. */
function readVersions(path: string): { readonly cniVersion?: unknown; readonly cniVersions?: unknown } {
  try {
    const json: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return typeof json === 'object' && json !== null ? json : {}
  } catch {
    return {}
  }
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}
