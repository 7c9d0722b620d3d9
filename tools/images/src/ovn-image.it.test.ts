import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ensureImage } from './container-image.ts'
import { imageList } from './images.ts'

const run = promisify(execFile)
const prefix = `kube-ovn-image-test-${randomBytes(3).toString('hex')}`
const containers: string[] = []

let image: string
let network: string

beforeAll(async () => {
  const source = imageList().find(({ name }) => name === 'ovn')
  if (source === undefined) throw new Error('there is no image of OVN')
  image = await ensureImage(source, undefined)
  network = await createNetwork()
})
afterEach(async () => {
  for (const name of containers.splice(0)) await docker('rm', '--force', '--volumes', name)
})
afterAll(() => docker('network', 'rm', network))

describe('ovn-central', () => {
  it('stands alone with one address, keeps its data over a crash, and is healthy', async () => {
    const address = hostAddress(10)
    const name = await startCentral('one', address, [address])
    await untilHealthy(name)
    expect(await docker('exec', name, 'ovsdb-tool', 'db-is-standalone', '/etc/ovn/ovnnb_db.db')).toBe('')
    await docker('exec', name, 'ovn-nbctl', 'ls-add', 'kept')

    await docker('kill', '--signal', 'KILL', name)
    await docker('start', name)
    await untilHealthy(name)
    expect(await docker('exec', name, 'ovn-nbctl', 'ls-list')).toContain('kept')
    const options = await docker('exec', name, 'ovn-nbctl', 'get', 'NB_Global', '.', 'options')
    expect(options).toContain('northd_probe_interval="5000"')
    expect(options).toContain('use_logical_dp_groups="true"')
  })

  it('ends when a database is gone for good, so that kubelet starts it anew', async () => {
    const address = hostAddress(10)
    const name = await startCentral('one', address, [address])
    await untilHealthy(name)
    await docker('exec', name, 'bash', '-c', 'kill -KILL $(cat /run/ovn/ovnnb_db.pid)')
    expect((await docker('wait', name)).trim()).toBe('1')
  })

  it('makes one cluster of three members, which all serve, also after all of them crashed', async () => {
    const addresses = [11, 12, 13].map(hostAddress)
    const names = []
    for (const address of addresses)
      names.push(await startCentral(address.replaceAll('.', '-'), address, addresses))
    await Promise.all(names.map((name) => untilHealthy(name)))
    const [first = '', second = '', third = ''] = names
    await docker('exec', second, 'ovn-nbctl', '--no-leader-only', 'ls-add', 'kept')
    expect(await clusterSize(third)).toBe(3)

    await docker('kill', '--signal', 'KILL', ...names)
    await docker('start', ...names)
    await Promise.all(names.map((name) => untilHealthy(name)))
    expect(await docker('exec', first, 'ovn-nbctl', '--no-leader-only', 'ls-list')).toContain('kept')
    expect(await clusterSize(first)).toBe(3)
  })
})

describe('ovs-ovn with the userspace data path', () => {
  it("gives the NIC's addresses to the bridge, and again after a crash and a restart", async () => {
    const tunnels = await createNetwork()
    const name = `${prefix}-node`
    containers.push(name)
    await docker(
      'create',
      ...['--name', name, '--network', network, '--device', '/dev/net/tun'],
      // Root in here is not privileged: the engine may be unable to give everything.
      ...['--cap-add', 'ALL', '--cap-drop', 'SYS_RESOURCE'],
      ...['--security-opt', 'seccomp=unconfined', '--security-opt', 'apparmor=unconfined'],
      ...[
        '--env',
        'NODE_NAME=n1',
        '--env',
        `OVN_DB_IPS=${hostAddress(10)}`,
        '--env',
        'OVS_DATAPATH_TYPE=netdev',
      ],
      ...['--env', `USERSPACE_TUNNEL_NIC=${await subnetOf(tunnels)}`],
      ...[image, 'bash', '-c', 'mount -o remount,rw /proc/sys; exec bash /kube-ovn/start-ovs.sh'],
    )
    try {
      await docker('network', 'connect', tunnels, name)
      await docker('start', name)
      await untilHealthy(name, 'ovs-healthcheck.sh')
      const before = await bridgeState(name)
      expect(before.addresses).toMatch(/^\d+\.\d+\.\d+\.\d+\/\d+$/)
      expect(before.checksums).toBe('off')
      expect(await docker('exec', name, 'ovs-vsctl', 'get', 'Bridge', 'br-int', 'datapath_type')).toBe(
        'netdev\n',
      )

      await docker('exec', name, 'bash', '-c', 'kill -SEGV $(cat /run/openvswitch/ovs-vswitchd.pid)')
      await eventually(async () => expect(await bridgeState(name)).toEqual(before))

      // As ovs-vswitchd does when it comes to it only after the addresses are in place.
      await docker('exec', name, 'ethtool', '--offload', 'br-phy', 'tx', 'on')
      await eventually(async () => expect(await bridgeState(name)).toEqual(before))

      await docker('restart', '--time', '20', name)
      await untilHealthy(name, 'ovs-healthcheck.sh')
      await eventually(async () => expect(await bridgeState(name)).toEqual(before))

      // A machine that comes back with another address, because somebody else has its own.
      await docker('stop', '--time', '20', name)
      await docker('network', 'disconnect', tunnels, name)
      await docker('run', '--detach', '--name', `${name}-other`, '--network', tunnels, image, 'sleep', '600')
      containers.push(`${name}-other`)
      await docker('network', 'connect', tunnels, name)
      await docker('start', name)
      await untilHealthy(name, 'ovs-healthcheck.sh')
      const moved = await bridgeState(name)
      expect(moved.addresses).toMatch(/^\d+\.\d+\.\d+\.\d+\/\d+$/)
      expect(moved.addresses).not.toBe(before.addresses)
      expect(await docker('exec', name, 'ip', '-oneline', '-4', 'address', 'show', 'br-phy')).toContain(
        await addressOf(name, tunnels),
      )
    } finally {
      await docker('rm', '--force', '--volumes', `${name}-other`)
      await docker('rm', '--force', '--volumes', name)
      await docker('network', 'rm', tunnels)
    }
  })
})

async function docker(...args: readonly string[]): Promise<string> {
  return (await run('docker', args)).stdout
}

async function addressOf(name: string, network: string): Promise<string> {
  const format = `{{(index .NetworkSettings.Networks ${JSON.stringify(network)}).IPAddress}}`
  return (await docker('inspect', '--format', format, name)).trim()
}

let networks = 0

async function createNetwork(): Promise<string> {
  const name = `${prefix}-${networks++}`
  await docker('network', 'create', '--internal', name)
  return name
}

async function subnetOf(name: string): Promise<string> {
  return (await docker('network', 'inspect', '--format', '{{(index .IPAM.Config 0).Subnet}}', name)).trim()
}

let subnet: string | undefined
beforeAll(async () => {
  subnet = await subnetOf(network)
})

/** An address of the test network; raft members must know theirs in advance. */
function hostAddress(host: number): string {
  return `${(subnet ?? '').split('.').slice(0, 3).join('.')}.${host}`
}

/** The network has no configured subnet, so addresses cannot be asked for: the container takes its own. */
async function startCentral(suffix: string, address: string, members: readonly string[]): Promise<string> {
  const name = `${prefix}-${suffix}`
  containers.push(name)
  const length = (subnet ?? '').split('/')[1] ?? '24'
  await docker(
    ...['run', '--detach', '--name', name, '--network', network, '--cap-add', 'NET_ADMIN'],
    ...[
      '--env',
      `POD_IP=${address}`,
      '--env',
      `POD_IPS=${address}`,
      '--env',
      `NODE_IPS=${members.join(',')}`,
    ],
    ...['--env', 'ENABLE_BIND_LOCAL_IP=true', image],
    ...['bash', '-c', `ip address replace ${address}/${length} dev eth0; exec bash /kube-ovn/start-db.sh`],
  )
  return name
}

async function untilHealthy(name: string, script = 'ovn-healthcheck.sh'): Promise<void> {
  await eventually(() => docker('exec', name, 'bash', `/kube-ovn/${script}`))
}

/** Nothing tells when a daemon in a container is up, so it is asked. */
async function eventually(attempt: () => Promise<unknown>): Promise<void> {
  const deadlineMs = performance.now() + 40_000
  for (;;) {
    try {
      await attempt()
      return
    } catch (error) {
      if (performance.now() > deadlineMs) throw error
      await delay(250)
    }
  }
}

async function clusterSize(name: string): Promise<number> {
  const status = await docker(
    ...['exec', name, 'ovn-appctl', '-t', '/run/ovn/ovnnb_db.ctl', 'cluster/status', 'OVN_Northbound'],
  )
  return [...status.matchAll(/ at tcp:/g)].length
}

async function bridgeState(name: string) {
  const script =
    "ip -4 -oneline address show dev br-phy up | awk '{ print $4 }'; " +
    "ethtool --show-offload br-phy | awk '/^tx-checksumming/ { print $2 }'; " +
    'ovs-ofctl dump-flows br-phy | grep -c NORMAL'
  const [addresses, checksums, flows] = (await docker('exec', name, 'bash', '-c', script)).split('\n')
  return { addresses, checksums, flows }
}
