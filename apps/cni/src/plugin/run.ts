import {
  addPath,
  checkPath,
  delPath,
  gcPath,
  statusPath,
  type AttachedMessage,
  type AttachmentMessage,
  type CollectionMessage,
  type FailureMessage,
} from '../protocol/messages.ts'
import type { AgentAnswer, askAgent } from './agent-client.ts'
import { CniError, cniErrorCode } from './errors.ts'
import {
  parseInvocation,
  type AttachmentInvocation,
  type Environment,
  type Invocation,
} from './invocation.ts'
import { renderResult } from './result.ts'
import { newestVersion, supportedVersions } from './versions.ts'

/** What the process leaves behind. */
export interface Outcome {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

/** Does what the runtime asks for and says how it went, in the runtime's terms. Never throws. */
export async function runPlugin(
  environment: Environment,
  stdin: string,
  ask: typeof askAgent,
  version: string,
): Promise<Outcome> {
  if ((environment['CNI_COMMAND'] ?? '') === '') return about(version)
  try {
    const invocation = parseInvocation(environment, stdin)
    const answer = await execute(invocation, ask)
    return { stdout: answer === undefined ? '' : print(answer), stderr: '', exitCode: 0 }
  } catch (error) {
    const failure =
      error instanceof CniError ? error : new CniError(cniErrorCode.ioFailure, 'plugin failed', String(error))
    const { code, message, details } = failure
    const body = { cniVersion: versionOf(stdin), code, msg: message, ...(details === '' ? {} : { details }) }
    return { stdout: print(body), stderr: '', exitCode: 1 }
  }
}

async function execute(invocation: Invocation, ask: typeof askAgent): Promise<object | undefined> {
  switch (invocation.verb) {
    case 'VERSION':
      return { cniVersion: newestVersion, supportedVersions }
    case 'ADD':
      return add(invocation, ask)
    case 'DEL':
      return expectDone(
        await send(invocation.configuration.serverSocket, delPath, attachment(invocation), ask),
      )
    case 'CHECK':
      return expectDone(
        await send(invocation.configuration.serverSocket, checkPath, attachment(invocation), ask),
      )
    case 'STATUS':
      return expectDone(
        await send(
          invocation.configuration.serverSocket,
          statusPath,
          {},
          ask,
          cniErrorCode.pluginNotAvailable,
        ),
      )
    case 'GC': {
      const { name, serverSocket, validAttachments } = invocation.configuration
      const body: CollectionMessage = {
        network: name,
        valid_attachments: validAttachments.map(({ containerId, ifName }) => ({
          container_id: containerId,
          if_name: ifName,
        })),
      }
      return expectDone(await send(serverSocket, gcPath, body, ask))
    }
  }
}

async function add(invocation: AttachmentInvocation, ask: typeof askAgent): Promise<object> {
  const { configuration, netns } = invocation
  const body: AttachmentMessage = {
    ...attachment(invocation),
    routes: configuration.routes,
    dns: configuration.dns ?? {},
    vf_driver: configuration.vfDriver,
    vhost_user_socket_name: configuration.vhostUserSocketName,
  }
  const answer = await send(configuration.serverSocket, addPath, body, ask)
  if (answer.status !== 200) throw refused(answer)
  return renderResult(configuration.cniVersion, netns, parseAttached(answer.body))
}

function attachment(invocation: AttachmentInvocation): AttachmentMessage {
  const { configuration } = invocation
  return {
    cni_type: configuration.type,
    pod_name: invocation.podName,
    pod_namespace: invocation.podNamespace,
    container_id: invocation.containerId,
    net_ns: invocation.netns,
    if_name: invocation.ifName,
    provider: configuration.provider,
    deviceID: configuration.deviceId,
    vhost_user_socket_volume_name: configuration.vhostUserSocketVolumeName,
    vhost_user_socket_consumption: configuration.vhostUserSocketConsumption,
    pod_uid: invocation.podUid,
    network: configuration.name,
  }
}

async function send(
  socketPath: string,
  path: string,
  body: object,
  ask: typeof askAgent,
  unreachableCode: number = cniErrorCode.tryAgainLater,
): Promise<AgentAnswer> {
  try {
    return await ask(socketPath, path, body)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CniError(
      unreachableCode,
      'RPC failed',
      `the node agent does not answer on ${socketPath}: ${why}`,
    )
  }
}

function expectDone(answer: AgentAnswer): undefined {
  if (answer.status !== 200 && answer.status !== 204) throw refused(answer)
}

function refused(answer: AgentAnswer): CniError {
  const failure = parseFailure(answer.body)
  return new CniError(
    failure.code ?? cniErrorCode.tryAgainLater,
    'RPC failed',
    `request ip return ${answer.status} ${failure.error}`,
  )
}

function parseFailure(body: string): FailureMessage {
  try {
    const json = JSON.parse(body) as { readonly error?: unknown; readonly code?: unknown } | null
    const code = json?.code
    return {
      error: typeof json?.error === 'string' ? json.error : body,
      ...(typeof code === 'number' ? { code } : {}),
    }
  } catch {
    return { error: body }
  }
}

function parseAttached(body: string): AttachedMessage {
  try {
    const json = JSON.parse(body) as Partial<AttachedMessage>
    return {
      ips: json.ips ?? [],
      mac_address: json.mac_address ?? '',
      routes: json.routes ?? [],
      mtu: json.mtu ?? 0,
      nicname: json.nicname ?? '',
    }
  } catch {
    throw new CniError(
      cniErrorCode.tryAgainLater,
      'RPC failed',
      'the node agent answered with what is not JSON',
    )
  }
}

/** What the skeleton prints when the executable is started by hand. */
function about(version: string): Outcome {
  const lines = [
    `CNI kube-ovn plugin ${version}`,
    `CNI protocol versions supported: ${supportedVersions.join(', ')}`,
  ]
  return { stdout: '', stderr: `${lines.join('\n')}\n`, exitCode: 0 }
}

function versionOf(stdin: string): string {
  try {
    const version: unknown = (JSON.parse(stdin) as { cniVersion?: unknown }).cniVersion
    return typeof version === 'string' ? version : newestVersion
  } catch {
    return newestVersion
  }
}

function print(value: object): string {
  return `${JSON.stringify(value, undefined, 4)}\n`
}
