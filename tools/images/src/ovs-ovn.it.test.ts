import { docker } from '@kube-ovn/testing-docker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually, OvnContainers, ovnImage, subnetOf, untilHealthy } from './ovn-containers.ts'

let containers: OvnContainers
/** Of the tunnels. */
let tunnels: OvnContainers

beforeAll(async () => {
  const image = await ovnImage()
  containers = await OvnContainers.create(image)
  tunnels = await OvnContainers.create(image)
})
afterAll(async () => {
  await containers[Symbol.asyncDispose]()
  await tunnels[Symbol.asyncDispose]()
})

describe('ovs-ovn with the userspace data path', () => {
  it("gives the NIC's addresses to the bridge, and again after a crash and a restart", async () => {
    const name = await createNode({ USERSPACE_TUNNEL_NIC: await subnetOf(tunnels.network) })
    await docker('network', 'connect', tunnels.network, name)
    await docker('start', name)
    await untilHealthy(name, 'ovs-healthcheck.sh')
    const before = await bridgeState(name)
    expect(before.addresses).toMatch(/^\d+\.\d+\.\d+\.\d+\/\d+$/)
    expect(before.checksums).toBe('off')
    expect(await docker('exec', name, 'ovs-vsctl', 'get', 'Bridge', 'br-int', 'datapath_type')).toBe('netdev')

    const pid = () => docker('exec', name, 'cat', '/run/openvswitch/ovs-vswitchd.pid')
    const crashed = await pid()
    await docker('exec', name, 'bash', '-c', 'kill -SEGV $(cat /run/openvswitch/ovs-vswitchd.pid)')
    await eventually(async () => expect(await pid()).not.toBe(crashed))
    await eventually(async () => expect(await bridgeState(name)).toEqual(before))

    // As ovs-vswitchd does when it comes to it only after the addresses are in place.
    await docker('exec', name, 'ethtool', '--offload', 'br-phy', 'tx', 'on')
    await eventually(async () => expect(await bridgeState(name)).toEqual(before))

    // There is no Southbound, so nobody computes flows: what is there afterwards was restored.
    await docker('exec', name, 'ovs-ofctl', 'add-flow', 'br-int', 'tcp,tp_dst=4711,actions=drop')

    for (const log of ['openvswitch/ovs-vswitchd', 'openvswitch/ovsdb-server', 'ovn/ovn-controller']) {
      const program = log.startsWith('ovn') ? 'ovn-appctl' : 'ovs-appctl'
      const target = log.split('/')[1] ?? ''
      await docker('exec', name, program, '-t', target, 'vlog/set', 'file:dbg')
      // With something to say for ovsdb-server.
      const talk = `ovs-vsctl show >/dev/null && gzip --test /var/log/${log}.log.1.gz`
      await eventually(() => docker('exec', name, 'bash', '-c', talk))
      await docker('exec', name, program, '-t', target, 'vlog/set', 'file:info')
    }

    await docker('restart', '--time', '20', name)
    await untilHealthy(name, 'ovs-healthcheck.sh')
    await eventually(async () => expect(await bridgeState(name)).toEqual(before))
    expect(await docker('exec', name, 'ovs-ofctl', 'dump-flows', 'br-int')).toContain('tp_dst=4711')

    // The container of an upgrade has the processes of the one before in sight, and waits while that stops them.
    const old = await pid()
    const stopping = 'echo $$ >/run/stopping; exec sleep 600'
    const lock = '/run/openvswitch/kube-ovn.lock'
    await docker('exec', '--detach', name, 'flock', '--no-fork', lock, 'bash', '-c', stopping)
    await eventually(() => docker('exec', name, 'test', '-s', '/run/stopping'))
    await docker('exec', '--detach', name, 'bash', '/kube-ovn/start-ovs.sh')
    await eventually(() => docker('exec', name, 'bash', '-c', 'grep --quiet ^flock$ /proc/[0-9]*/comm'))
    expect(await pid()).toBe(old)
    await docker('exec', name, 'bash', '-c', 'kill $(cat /run/stopping)')
    await eventually(async () => {
      expect(await pid()).not.toBe(old)
      expect(await docker('exec', name, 'cat', '/run/ovn/ovn-controller.pid')).not.toBe('')
    })
    await untilHealthy(name, 'ovs-healthcheck.sh')
    await eventually(async () => expect(await bridgeState(name)).toEqual(before))
    expect(await docker('exec', name, 'ovs-ofctl', 'dump-flows', 'br-int')).toContain('tp_dst=4711')
    expect(await docker('exec', name, 'ovs-vsctl', 'get', 'Open_vSwitch', '.', 'other_config')).not.toContain(
      'restore',
    )

    // A machine that comes back with another address, because somebody else has its own.
    await docker('stop', '--time', '20', name)
    await docker('network', 'disconnect', tunnels.network, name)
    await docker('start', await tunnels.create('other', [], ['sleep', '600']))
    await docker('network', 'connect', tunnels.network, name)
    await docker('start', name)
    await untilHealthy(name, 'ovs-healthcheck.sh')
    const moved = await bridgeState(name)
    expect(moved.addresses).toMatch(/^\d+\.\d+\.\d+\.\d+\/\d+$/)
    expect(moved.addresses).not.toBe(before.addresses)
    expect(await docker('exec', name, 'ip', '-oneline', '-4', 'address', 'show', 'br-phy')).toContain(
      await addressOf(name, tunnels.network),
    )
  })
})

it('forwards again after a restart on a full disk', async () => {
  // Restarted within the container, which would lose its small disk.
  const small = 'mount -t tmpfs -o size=600k tmpfs /etc/openvswitch'
  const name = await createNode({}, [small, 'bash /kube-ovn/start-ovs.sh'])
  await docker('start', name)
  await untilHealthy(name, 'ovs-healthcheck.sh')
  await docker('exec', name, 'ovs-ofctl', 'add-flow', 'br-int', 'tcp,tp_dst=4711,actions=drop')
  const fill = 'cat /dev/zero >/etc/openvswitch/filling'
  const write = 'ovs-vsctl --no-wait set Open_vSwitch . external_ids:round=$((++round)) 2>/dev/null'
  await docker('exec', name, 'bash', '-c', `${fill} 2>/dev/null; while ${write}; do :; done`)

  const pid = () => docker('exec', name, 'cat', '/run/openvswitch/ovs-vswitchd.pid')
  const old = await pid()
  await docker('exec', name, 'pkill', '--oldest', '--full', '^bash /kube-ovn/start-ovs.sh')
  await eventually(async () => expect(await pid()).not.toBe(old))
  await untilHealthy(name, 'ovs-healthcheck.sh')
  expect(await docker('exec', name, 'ovs-ofctl', 'dump-flows', 'br-int')).toContain('tp_dst=4711')
})

/** Bytes that a log may have, as far as the tests go. */
const logBound = 4_000

/** A node that is not connected to the network of the tunnels yet, with what its shell runs before Open vSwitch is started. */
async function createNode(
  environment: Readonly<Record<string, string>>,
  before: readonly string[] = [],
): Promise<string> {
  const variables = {
    NODE_NAME: 'n1',
    OVN_DB_IPS: containers.address(10),
    OVS_DATAPATH_TYPE: 'netdev',
    LOG_MAX_BYTES: String(logBound),
    ...environment,
  }
  return containers.create(
    before.length === 0 ? 'node' : 'prepared',
    [
      ...['--device', '/dev/net/tun'],
      // Root in here is not privileged: the engine may be unable to give everything.
      ...['--cap-add', 'ALL', '--cap-drop', 'SYS_RESOURCE'],
      ...['--security-opt', 'seccomp=unconfined', '--security-opt', 'apparmor=unconfined'],
      ...Object.entries(variables).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ],
    [
      'bash',
      '-c',
      ['mount -o remount,rw /proc/sys', ...before, 'exec bash /kube-ovn/start-ovs.sh'].join('\n'),
    ],
  )
}

async function addressOf(name: string, network: string): Promise<string> {
  const format = `{{(index .NetworkSettings.Networks ${JSON.stringify(network)}).IPAddress}}`
  return (await docker('inspect', '--format', format, name)).trim()
}

async function bridgeState(name: string) {
  const script =
    "ip -4 -oneline address show dev br-phy up | awk '{ print $4 }'; " +
    "ethtool --show-offload br-phy | awk '/^tx-checksumming/ { print $2 }'; " +
    'ovs-ofctl dump-flows br-phy | grep -c NORMAL'
  const [addresses, checksums, flows] = (await docker('exec', name, 'bash', '-c', script)).split('\n')
  return { addresses, checksums, flows }
}
