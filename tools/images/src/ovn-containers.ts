import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { docker } from '@kube-ovn/testing-docker'
import { ensureImage } from './container-image.ts'

/** The present image of OVN, its reference. */
export function ovnImage(): Promise<string> {
  return ensureImage('ovn')
}

/** A network of both families that nothing leaves, and the containers in it; all of it goes with this. */
export class OvnContainers implements AsyncDisposable {
  readonly network: string
  readonly image: string
  readonly #containers = new Set<string>()
  readonly #subnets: readonly string[]

  private constructor(network: string, image: string, subnets: readonly string[]) {
    this.network = network
    this.image = image
    this.#subnets = subnets
  }

  static async create(image: string): Promise<OvnContainers> {
    const random = randomBytes(5).toString('hex')
    const network = `kube-ovn-image-test-${random}`
    // A unique local prefix (RFC 4193).
    const ipv6 = `fd${random.slice(0, 2)}:${random.slice(2, 6)}:${random.slice(6)}::/64`
    await docker('network', 'create', '--internal', '--ipv6', '--subnet', ipv6, network)
    return new OvnContainers(network, image, [await subnetOf(network), ipv6])
  }

  /** An address of the network, by the number of its host; raft members must know theirs in advance. */
  address(host: number, family: 'IPv4' | 'IPv6' = 'IPv4'): string {
    const [ipv4 = '', ipv6 = ''] = this.#subnets
    return family === 'IPv4'
      ? `${ipv4.split('.').slice(0, 3).join('.')}.${host}`
      : ipv6.replace('::/64', `::${host}`)
  }

  /** Makes a container that goes with this. */
  async create(suffix: string, options: readonly string[], command: readonly string[]): Promise<string> {
    const name = `${this.network}-${suffix}`
    this.#containers.add(name)
    await docker('create', '--name', name, '--network', this.network, ...options, this.image, ...command)
    return name
  }

  /**
   * Runs ovn-central. The engine gives no address that was asked for in a network of its own choice: the container takes it.
   *
   * @param prepare shell that runs before, with the directories of the databases and of the logs in place
   * @param nodeOf a container that runs on the same node, with the same directories of the host
   */
  async startCentral(
    suffix: string,
    address: string,
    members: readonly string[],
    {
      environment = {},
      prepare = ':',
      diskBytes,
      nodeOf,
    }: {
      environment?: Readonly<Record<string, string>>
      prepare?: string
      /** Has the databases on a disk of this size, which is lost with the container. */
      diskBytes?: number
      nodeOf?: string
    } = {},
  ): Promise<string> {
    const length = address.includes(':') ? '64' : (this.#subnets[0] ?? '').split('/')[1]
    const variables = {
      POD_IP: address,
      POD_IPS: address,
      NODE_IPS: members.join(','),
      ENABLE_BIND_LOCAL_IP: 'true',
      ...environment,
    }
    const script = [
      `ip address replace ${address}/${length} dev eth0 $(case ${address} in *:*) echo nodad;; esac)`,
      prepare,
      'exec bash /kube-ovn/start-db.sh',
    ].join('\n')
    const name = await this.create(
      suffix,
      [
        '--cap-add',
        'NET_ADMIN',
        ...(nodeOf === undefined
          ? ['--volume', '/run/ovn', ...diskOf(diskBytes)]
          : ['--volumes-from', nodeOf]),
        ...Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      ],
      ['bash', '-c', script],
    )
    await docker('start', name)
    return name
  }

  /** Takes a container away, and what it has stored. */
  async remove(name: string): Promise<void> {
    await docker('rm', '--force', '--volumes', name)
    this.#containers.delete(name)
  }

  async removeAll(): Promise<void> {
    await Promise.all([...this.#containers].map((name) => this.remove(name)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.removeAll()
    await docker('network', 'rm', this.network)
  }
}

/** The IPv4 subnet of a network. */
export async function subnetOf(network: string): Promise<string> {
  const subnets = await docker(
    'network',
    'inspect',
    '--format',
    '{{range .IPAM.Config}}{{.Subnet}} {{end}}',
    network,
  )
  return subnets.split(' ').find((subnet) => subnet.includes('.')) ?? ''
}

export async function untilHealthy(name: string, script = 'ovn-healthcheck.sh'): Promise<void> {
  await eventually(() => docker('exec', name, 'bash', `/kube-ovn/${script}`))
}

/** Nothing tells when a daemon in a container is up, so it is asked. */
export async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  const deadlineMs = performance.now() + 180_000
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > deadlineMs) throw error
      await delay(250)
    }
  }
}

function diskOf(bytes: number | undefined): readonly string[] {
  return bytes === undefined ? ['--volume', '/etc/ovn'] : ['--tmpfs', `/etc/ovn:size=${bytes}`]
}
