import { agentSocket } from '../protocol/socket.ts'
import { parseConfiguration, type Configuration } from './configuration.ts'
import { CniError, cniErrorCode } from './errors.ts'
import { isAtLeast, isSupported, supportedVersions } from './versions.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** What the runtime asks for: a verb about one interface of one container. */
export interface AttachmentInvocation {
  readonly verb: 'ADD' | 'DEL' | 'CHECK'
  readonly configuration: Configuration
  readonly containerId: string
  /** May be empty on DEL: the namespace is gone already. */
  readonly netns: string
  readonly ifName: string
  /** May be empty on DEL, as the namespace: the container and the interface tell the attachment. */
  readonly podName: string
  readonly podNamespace: string
  readonly podUid: string
}

export type Invocation =
  | AttachmentInvocation
  | { readonly verb: 'GC' | 'STATUS'; readonly configuration: Configuration }
  | { readonly verb: 'VERSION' }

/** The first version of the specification that knows a verb. */
const verbSince: Readonly<Record<string, string>> = { CHECK: '0.4.0', GC: '1.1.0', STATUS: '1.1.0' }

const requiredVariables: Readonly<Record<string, readonly string[]>> = {
  ADD: ['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME', 'CNI_PATH'],
  CHECK: ['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME', 'CNI_PATH'],
  DEL: ['CNI_CONTAINERID', 'CNI_IFNAME', 'CNI_PATH'],
  GC: ['CNI_PATH'],
  STATUS: ['CNI_PATH'],
  VERSION: [],
}

/**
 * Reads what the runtime wants from the environment and the standard input.
 *
 * The checks and their codes are those of the CNI project's own plugin skeleton, so that a runtime sees no
 * difference between this executable and one made with it.
 *
 * @see https://www.cni.dev/docs/spec/#section-2-execution-protocol
 */
export function parseInvocation(environment: Environment, stdin: string): Invocation {
  const verb = environment['CNI_COMMAND'] ?? ''
  const required = requiredVariables[verb]
  if (required === undefined) {
    throw new CniError(cniErrorCode.invalidEnvironment, `unknown CNI_COMMAND: ${verb}`)
  }
  const missing = required.filter((name) => (environment[name] ?? '') === '')
  if (missing.length > 0) {
    throw new CniError(
      cniErrorCode.invalidEnvironment,
      `required env variables [${missing.join(',')}] missing`,
    )
  }
  if (verb === 'VERSION') return { verb }

  const configuration =
    verb === 'DEL' ? completeForRemoval(parseConfiguration(stdin)) : parseConfiguration(stdin)
  requireVersion(configuration.cniVersion, verb)
  if (configuration.name === '') {
    throw new CniError(cniErrorCode.invalidNetworkConfig, 'missing network name')
  }
  if (configuration.serverSocket === '') {
    throw new CniError(cniErrorCode.invalidNetworkConfig, 'server_socket is required in cni.conf')
  }
  if (verb === 'GC' || verb === 'STATUS') return { verb, configuration }

  const containerId = environment['CNI_CONTAINERID'] ?? ''
  const ifName = environment['CNI_IFNAME'] ?? ''
  requireContainerId(containerId)
  requireInterfaceName(ifName)
  const pod = parsePodArguments(environment['CNI_ARGS'] ?? '', verb)
  return {
    verb: verb as AttachmentInvocation['verb'],
    configuration,
    containerId,
    netns: environment['CNI_NETNS'] ?? '',
    ifName,
    ...pod,
  }
}

/**
 * Multus 4.2 reads a list of plugins from a file and hands to DEL only the fields of it that it knows itself. A pod that
 * could be attached must not be stuck for that.
 */
function completeForRemoval(configuration: Configuration): Configuration {
  return { ...configuration, serverSocket: configuration.serverSocket || agentSocket }
}

function requireVersion(version: string, verb: string): void {
  if (!isSupported(version)) {
    throw new CniError(
      cniErrorCode.incompatibleVersion,
      'incompatible CNI versions',
      `config is "${version}", plugin supports ${JSON.stringify(supportedVersions)}`,
    )
  }
  const since = verbSince[verb]
  if (since !== undefined && !isAtLeast(version, since)) {
    throw new CniError(cniErrorCode.incompatibleVersion, `config version does not allow ${verb}`)
  }
}

function requireContainerId(id: string): void {
  if (!/^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/.test(id)) {
    throw new CniError(cniErrorCode.invalidEnvironment, 'invalid characters in containerID', id)
  }
}

/** The kernel's own rules for the name of a link (dev_valid_name). */
function requireInterfaceName(name: string): void {
  const isValid = name.length <= 15 && name !== '.' && name !== '..' && !/[/:\s]/.test(name)
  if (!isValid) {
    throw new CniError(
      cniErrorCode.invalidEnvironment,
      'invalid interface name',
      `"${name}" must have 1 to 15 characters, none of them a slash, colon or space`,
    )
  }
}

/**
 * `CNI_ARGS` is `KEY=VALUE;KEY=VALUE`; keys that are not ours are other plugins' affair.
 *
 * A runtime may leave it out, and has forgotten it when it removes what it no longer knows. Only what is added and checked
 * needs to be a pod.
 */
function parsePodArguments(
  text: string,
  verb: string,
): { podName: string; podNamespace: string; podUid: string } {
  const isRemoval = verb === 'DEL'
  if (text === '' && !isRemoval) throw new CniError(cniErrorCode.invalidNetworkConfig, 'CNI_ARGS is required')
  const pairs = new Map<string, string>()
  for (const pair of text.split(';')) {
    const at = pair.indexOf('=')
    if (at > 0) pairs.set(pair.slice(0, at), pair.slice(at + 1))
  }
  function required(key: string): string {
    const value = pairs.get(key) ?? ''
    if (value === '' && !isRemoval)
      throw new CniError(cniErrorCode.invalidNetworkConfig, `${key} is required in CNI_ARGS`)
    return value
  }
  return {
    podNamespace: required('K8S_POD_NAMESPACE'),
    podName: required('K8S_POD_NAME'),
    podUid: pairs.get('K8S_POD_UID') ?? '',
  }
}
