import { DockerError } from '../errors.ts'
import { callEngine, labelFilter, unlessMissing } from './engine.ts'

/** The addresses of a container in a network. */
export interface NetworkAttachment {
  readonly network: string
  readonly ipv4: string
  readonly ipv6: string
}

export interface ContainerSpec {
  readonly name: string
  readonly hostname: string
  readonly image: string
  readonly command: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  /** `SOURCE:TARGET[:ro]`. */
  readonly mounts: readonly string[]
  /** Directories that must not lie on the container's overlay; removed with it. */
  readonly volumes: readonly string[]
  readonly networks: readonly NetworkAttachment[]
  /** `NAME:ADDRESS`. */
  readonly extraHosts: readonly string[]
}

export interface Container {
  readonly id: string
  readonly name: string
  /** The process id of its first process, in the host's namespace. */
  readonly pid: number
  /** Its NICs by the name of their network. */
  readonly nics: Readonly<Record<string, ContainerNic>>
}

/** A NIC that the engine gave to a container. */
interface ContainerNic {
  readonly mac: string
  readonly ipv4: string
  readonly ipv6: string
}

/** What `docker inspect` says, as far as it is read here. */
interface Inspected {
  readonly Id: string
  readonly Name: string
  readonly State: { readonly Pid: number }
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, InspectedEndpoint>> }
}

interface InspectedEndpoint {
  readonly MacAddress: string
  readonly IPAddress: string
  readonly GlobalIPv6Address: string
  /** What was asked for; a container that does not run has no other addresses. */
  readonly IPAMConfig: { readonly IPv4Address?: string; readonly IPv6Address?: string } | null
}

/** What a listed container looks like, as far as it is read here. */
export interface ListedContainer {
  readonly Id: string
  readonly Names: readonly string[]
  readonly Labels: Readonly<Record<string, string>>
  readonly State: string
}

/**
 * Creates and starts a container that can hold a whole machine.
 *
 * It gets every capability but SYS_RESOURCE, which a host may not have to give and `--privileged` therefore fails on; the
 * cgroup rule lets privileged pods inside write `devices.allow`.
 */
export async function startContainer(spec: ContainerSpec): Promise<Container> {
  const [first, ...others] = spec.networks
  const created = await callEngine<{ Id: string }>('POST', `/containers/create?name=${spec.name}`, {
    Hostname: spec.hostname,
    Image: spec.image,
    Cmd: spec.command,
    Labels: spec.labels,
    Volumes: Object.fromEntries(spec.volumes.map((path) => [path, {}])),
    StopSignal: 'SIGKILL',
    HostConfig: {
      Init: true,
      Binds: spec.mounts,
      NetworkMode: first?.network ?? 'none',
      CapAdd: ['ALL'],
      CapDrop: ['SYS_RESOURCE'],
      SecurityOpt: ['seccomp=unconfined', 'apparmor=unconfined'],
      CgroupnsMode: 'private',
      DeviceCgroupRules: ['a *:* rwm'],
      Devices: ['/dev/net/tun', '/dev/kmsg'].map((path) => ({
        PathOnHost: path,
        PathInContainer: path,
        CgroupPermissions: 'rwm',
      })),
      Sysctls: { 'net.ipv6.conf.all.disable_ipv6': '0', 'net.ipv6.conf.default.disable_ipv6': '0' },
      ExtraHosts: spec.extraHosts,
      LogConfig: { Type: 'json-file', Config: { 'max-size': '10m' } },
    },
    NetworkingConfig:
      first === undefined ? {} : { EndpointsConfig: { [first.network]: endpointConfig(first) } },
  })
  for (const attachment of others)
    await callEngine('POST', `/networks/${attachment.network}/connect`, {
      Container: created.Id,
      EndpointConfig: endpointConfig(attachment),
    })
  await callEngine('POST', `/containers/${created.Id}/start`)
  return inspectContainer(created.Id)
}

function endpointConfig(attachment: NetworkAttachment): object {
  return { IPAMConfig: { IPv4Address: attachment.ipv4, IPv6Address: attachment.ipv6 } }
}

/** Looks up a running container by id or name. */
export async function inspectContainer(idOrName: string): Promise<Container> {
  const seen = await callEngine<Inspected>('GET', `/containers/${idOrName}/json`)
  const nics = Object.entries(seen.NetworkSettings.Networks).map(([network, endpoint]) => [
    network,
    {
      mac: endpoint.MacAddress,
      ipv4: endpoint.IPAMConfig?.IPv4Address ?? endpoint.IPAddress,
      ipv6: endpoint.IPAMConfig?.IPv6Address ?? endpoint.GlobalIPv6Address,
    },
  ])
  return {
    id: seen.Id,
    name: seen.Name.replace(/^\//, ''),
    pid: seen.State.Pid,
    nics: Object.fromEntries(nics) as Record<string, ContainerNic>,
  }
}

/** Ends everything in a container at once, as a power cut does; one that does not run is fine. */
export async function killContainer(id: string): Promise<void> {
  try {
    await callEngine('POST', `/containers/${id}/kill`)
  } catch (error) {
    if (!(error instanceof DockerError && error.details.reason.includes('is not running'))) throw error
  }
}

/** Starts a container again that has ended; its process ids are others then. */
export async function startAgain(id: string): Promise<Container> {
  await callEngine('POST', `/containers/${id}/start`)
  return inspectContainer(id)
}

/** Freezes every process in a container. */
export async function freezeContainer(id: string): Promise<void> {
  await callEngine('POST', `/containers/${id}/pause`)
}

/** Lets the processes of a frozen container go on; one that is not frozen is fine. */
export async function thawContainer(id: string): Promise<void> {
  try {
    await callEngine('POST', `/containers/${id}/unpause`)
  } catch (error) {
    if (!(error instanceof DockerError && error.details.reason.includes('is not paused'))) throw error
  }
}

/** Gives a container that does not run other addresses in a network. */
export async function changeAddresses(id: string, attachment: NetworkAttachment): Promise<void> {
  await callEngine('POST', `/networks/${attachment.network}/disconnect`, { Container: id, Force: true })
  await callEngine('POST', `/networks/${attachment.network}/connect`, {
    Container: id,
    EndpointConfig: endpointConfig(attachment),
  })
}

/** Lists the containers, running or not, that carry all labels. */
export function listContainers(...labels: readonly string[]): Promise<readonly ListedContainer[]> {
  return callEngine('GET', `/containers/json?all=true&${labelFilter(...labels)}`)
}

/** Kills and removes a container with its volumes; one that is gone already is fine, or that somebody else is removing. */
export async function removeContainer(idOrName: string): Promise<void> {
  try {
    await unlessMissing(callEngine('DELETE', `/containers/${idOrName}?force=true&v=true`))
  } catch (error) {
    if (!(error instanceof DockerError) || error.details.status !== 409) throw error
    await unlessMissing(callEngine('POST', `/containers/${idOrName}/wait?condition=removed`))
  }
}
