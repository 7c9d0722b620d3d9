import { docker, run } from '@kube-ovn/testing-docker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { eventually, OvnContainers, ovnImage, untilHealthy } from './ovn-containers.ts'

let containers: OvnContainers

/** Members that do not answer are asked for five seconds, twice before a cluster is founded. */
const patient = { timeout: 180_000 }

beforeAll(async () => {
  containers = await OvnContainers.create(await ovnImage())
})
afterEach(() => containers.removeAll())
afterAll(() => containers[Symbol.asyncDispose]())

describe('ovn-central', patient, () => {
  it('stands alone with one address, keeps its data over a crash, and is healthy', async () => {
    const address = containers.address(10)
    const name = await containers.startCentral('one', address, [address])
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

  it('founds nothing on a node that is not listed, though one alone is', async () => {
    const [a, b] = [containers.address(10), containers.address(11)]
    const name = await containers.startCentral('elsewhere', b, [a])
    await untilSaid(name, `own address ${b} is none of NODE_IPS (${a})`)
    expect(await docker('wait', name)).toBe('1')
    await expect(docker('cp', `${name}:/etc/ovn/ovnnb_db.db`, '-')).rejects.toThrow(/not find/i)
  })

  it('ends when a database is gone for good, so that kubelet starts it anew', async () => {
    const address = containers.address(10)
    const name = await containers.startCentral('one', address, [address])
    await untilHealthy(name)
    await docker('exec', name, 'bash', '-c', 'kill -KILL $(cat /run/ovn/ovnnb_db.pid)')
    expect(await docker('wait', name)).toBe('1')
  })

  it('serves its data again after a restart on a full disk', async () => {
    const address = containers.address(10)
    // Restarted within the container, which would lose its small disk.
    const prepare = 'while bash /kube-ovn/start-db.sh; do pkill --exact tail; done'
    const name = await containers.startCentral('one', address, [address], { diskBytes: 2_000_000, prepare })
    await untilHealthy(name)
    await docker('exec', name, 'ovn-nbctl', 'ls-add', 'kept')
    const fill = 'cat /dev/zero >/etc/ovn/filling'
    const write = 'ovn-nbctl --timeout=10 ls-add more$((++round)) 2>/dev/null'
    await docker('exec', name, 'bash', '-c', `${fill} 2>/dev/null; while ${write}; do :; done`)

    const pid = () => docker('exec', name, 'cat', '/run/ovn/ovnnb_db.pid')
    const old = await pid()
    await docker('exec', name, 'pkill', '--oldest', '--full', '^bash /kube-ovn/start-db.sh')
    await eventually(async () => expect(await pid()).not.toBe(old))
    await untilHealthy(name)
    expect(await docker('exec', name, 'ovn-nbctl', 'ls-list')).toContain('kept')
  })

  it('waits for the one before it on its node, and leaves it alone', async () => {
    const [a, b] = [containers.address(10), containers.address(11)]
    const first = await containers.startCentral('first', a, [a])
    await untilHealthy(first)
    const second = await containers.startCentral('second', b, [b], { nodeOf: first })
    await untilSaid(second, 'waiting for the pod before this one')
    await docker('exec', first, 'bash', '/kube-ovn/ovn-healthcheck.sh')
    await expect(docker('exec', second, 'bash', '/kube-ovn/ovn-healthcheck.sh')).rejects.toThrow(
      /waiting for the pod before this one/,
    )
    await docker('exec', second, 'bash', '/kube-ovn/ovn-healthcheck.sh', 'live')
    await docker('exec', first, 'ovn-nbctl', 'ls-add', 'kept')

    await docker('stop', '--time', '30', first)
    await untilHealthy(second)
    expect(await docker('exec', second, 'ovn-nbctl', 'ls-list')).toContain('kept')
  })

  it('ends while it waits for another one, and goes on after that one was killed', async () => {
    const [a, b] = [containers.address(10), containers.address(11)]
    const first = await containers.startCentral('first', a, [a])
    await untilHealthy(first)
    const second = await containers.startCentral('second', b, [b], { nodeOf: first })
    await untilSaid(second, 'waiting for the pod before this one')
    await docker('kill', '--signal', 'TERM', second)
    expect(await docker('wait', second)).toBe('0')
    await docker('exec', first, 'bash', '/kube-ovn/ovn-healthcheck.sh')

    await docker('start', second)
    await docker('kill', '--signal', 'KILL', first)
    await untilHealthy(second)
  })

  it('makes one cluster of three members, which all serve, also after all of them crashed', async () => {
    const names = await startThree('IPv6')
    await untilOneCluster(names)
    const [first, second, third] = names
    await docker('exec', second, 'ovn-nbctl', '--no-leader-only', 'ls-add', 'kept')
    expect(await clusterSize(third)).toBe(3)

    await docker('kill', '--signal', 'KILL', ...names)
    await docker('start', ...names)
    await untilOneCluster(names)
    expect(await docker('exec', first, 'ovn-nbctl', '--no-leader-only', 'ls-list')).toContain('kept')
    expect(await clusterSize(first)).toBe(3)
  })
})

describe('the logs', () => {
  it('stay within their bound however much is written, and go on', async () => {
    const address = containers.address(10)
    const bound = 2_000_000
    const environment = { LOG_MAX_BYTES: String(bound), LOG_OLD_FILES: '2' }
    const name = await containers.startCentral('one', address, [address], { environment })
    await untilHealthy(name)
    const control = '/run/ovn/ovnnb_db.ctl'
    await docker('exec', name, 'ovn-appctl', '-t', control, 'vlog/set', 'file:jsonrpc:dbg')
    // More than the present file and the old ones may have.
    const talk = 'for ((number = 0; number < 40; number++)); do ovn-nbctl list NB_Global >/dev/null; done'
    const script = `${talk}; gzip --list --quiet /var/log/ovn/*.gz | wc -l`
    await eventually(async () => expect(await docker('exec', name, 'bash', '-c', script)).toBe('2'))
    await docker('exec', name, 'bash', '-c', talk)

    const files = await docker(
      'exec',
      name,
      'bash',
      '-c',
      'cd /var/log/ovn && stat --format "%n %s" ovsdb-server-nb*',
    )
    const sizes = new Map(files.split('\n').map((line) => line.split(' ') as [string, string]))
    expect([...sizes.keys()].sort()).toEqual([
      'ovsdb-server-nb.log',
      'ovsdb-server-nb.log.1.gz',
      'ovsdb-server-nb.log.2.gz',
    ])
    // What is written while the files are moved comes on top.
    for (const size of sizes.values()) expect(Number(size)).toBeLessThan(2 * bound)
    await docker('exec', name, 'ovn-appctl', '-t', control, 'vlog/set', 'file:info')
    await docker('exec', name, 'ovn-appctl', '-t', control, 'ovsdb-server/compact')
    await untilSaid(name, 'compact')
  })
})

describe('a member without a file', patient, () => {
  it('waits for a majority and says so, also to the probes, and serves as soon as there is one', async () => {
    const addresses = threeAddresses()
    const first = await containers.startCentral('first', addresses[0], addresses)
    await untilSaid(first, 'a majority of')
    await expect(docker('exec', first, 'bash', '/kube-ovn/ovn-healthcheck.sh')).rejects.toThrow(
      /silent: .*12/,
    )
    await docker('exec', first, 'bash', '/kube-ovn/ovn-healthcheck.sh', 'live')

    const third = await containers.startCentral('third', addresses[2], addresses)
    await untilOneCluster([first, third])
    const second = await containers.startCentral('second', addresses[1], addresses)
    await untilOneCluster([first, second, third])
    expect(await clusterSize(first)).toBe(3)
  })

  it('joins the cluster of members that do not lead, though it is the first of its own list', async () => {
    const [a, b, c] = threeAddresses()
    // Who founds it leads it.
    const names = await startThree('IPv4', [c, a, b])
    await untilOneCluster(names)
    expect(await leads(names[0])).toBe(true)

    const d = containers.address(14)
    const fourth = await containers.startCentral('fourth', d, [d, a, b])
    await untilOneCluster([...names, fourth])
    expect(await clusterSize(fourth)).toBe(4)
  })

  it('joins again after its disk was lost while nobody leads', async () => {
    const addresses = threeAddresses()
    const [first, second, third] = await startThree('IPv4')
    await untilOneCluster([first, second, third])
    await docker('exec', second, 'ovn-nbctl', '--no-leader-only', 'ls-add', 'kept')
    await freeze(third)
    await containers.remove(first)
    await eventually(async () => expect(await status(second)).toMatch(/^Leader: unknown$/m))

    await containers.startCentral('1', addresses[0], addresses)
    await untilSaid(first, 'joining cluster')
    await docker('unpause', third)
    await untilOneCluster([first, second, third])
    expect(await docker('exec', first, 'ovn-nbctl', '--no-leader-only', 'ls-list')).toContain('kept')
  })

  it('leaves a cluster of which nobody answers alone', async () => {
    const addresses = threeAddresses()
    const [first, second, third] = await startThree('IPv4')
    await untilOneCluster([first, second, third])
    await freeze(second, third)
    await containers.remove(first)
    await containers.startCentral('1', addresses[0], addresses)
    await untilSaid(first, 'a majority of')
    await docker('unpause', second, third)
    await untilOneCluster([first, second, third])
    expect(await clusterSize(second)).toBe(4)
  })
})

describe('a member that was taken out of its cluster', patient, () => {
  it('is not well, says why when it is started anew, keeps its file and joins as somebody new', async () => {
    const names = await startThree('IPv4')
    await untilOneCluster(names)
    const leader = await whichOf(names, (name) => leads(name))
    const [kicked = ''] = names.filter((name) => name !== leader)
    const file = '/etc/ovn/ovnnb_db.db'
    await docker('exec', leader, 'ovn-nbctl', 'ls-add', 'kept')
    const id = await docker('exec', kicked, 'ovsdb-tool', 'db-sid', file)
    const control = '/run/ovn/ovnnb_db.ctl'
    await docker('exec', leader, 'ovn-appctl', '-t', control, 'cluster/kick', 'OVN_Northbound', id)
    await eventually(async () => expect(await clusterSize(leader)).toBe(2))
    await eventually(() =>
      expect(docker('exec', kicked, 'bash', '/kube-ovn/ovn-healthcheck.sh', 'live')).rejects.toThrow(
        /the nb database: this member has left its cluster/,
      ),
    )

    await docker('restart', '--time', '30', kicked)
    await untilOneCluster(names)
    expect(await docker('exec', kicked, 'ovsdb-tool', 'db-sid', file)).not.toBe(id)
    expect(await clusterSize(leader)).toBe(3)
    expect(await docker('exec', kicked, 'ovn-nbctl', '--no-leader-only', 'ls-list')).toContain('kept')
    expect(await docker('exec', kicked, 'sh', '-c', `ls ${file}.left-cluster-*`)).not.toBe('')
  })
})

describe('standalone databases', patient, () => {
  const restore = [
    'mkdir -p /etc/ovn && cd /etc/ovn',
    'ovsdb-tool create ovnnb_db.db /usr/share/ovn/ovn-nb.ovsschema',
    `ovsdb-tool transact ovnnb_db.db '["OVN_Northbound",{"op":"insert","table":"Logical_Switch","row":{"name":"kept"}}]'`,
    'cd /kube-ovn',
  ].join('\n')

  it('that one backup gave to all members become one cluster', async () => {
    const names = await startThree('IPv4', threeAddresses(), { '1': restore, '2': restore, '3': restore })
    await untilOneCluster(names)
    for (const name of names)
      expect(
        await docker(
          'exec',
          name,
          'ovn-nbctl',
          '--no-leader-only',
          '--bare',
          '--columns=name',
          'list',
          'Logical_Switch',
        ),
      ).toBe('kept')
  })

  it('of the last member go before empty ones', async () => {
    const addresses = threeAddresses()
    const third = await containers.startCentral('3', addresses[2], addresses, { prepare: restore })
    await untilSaid(third, 'a majority of')
    const first = await containers.startCentral('1', addresses[0], addresses)
    const second = await containers.startCentral('2', addresses[1], addresses)
    const names = [first, second, third]
    await untilOneCluster(names)
    expect(await docker('exec', first, 'ovn-nbctl', '--no-leader-only', 'ls-list')).toContain('kept')
  })
})

describe('the lock of ovn-northd', patient, () => {
  it.each([
    ['stands still', (name: string) => freeze(name)],
    ['is cut off', (name: string) => docker('network', 'disconnect', '--force', containers.network, name)],
  ])('is free soon when its member %s and another one leads the Southbound', async (_, fail) => {
    const names = await startThree('IPv4')
    await untilOneCluster(names)
    const leader = await eventually(() => whichOf(names, (name) => leads(name, 'sb')))
    // Who gives it up is the last to have it again.
    await docker('exec', leader, 'ovn-appctl', '-t', 'ovn-northd', 'pause')
    const active = await eventually(() =>
      whichOf(
        names.filter((name) => name !== leader),
        isActive,
      ),
    )
    await docker('exec', leader, 'ovn-appctl', '-t', 'ovn-northd', 'resume')

    const others = names.filter((name) => name !== active)
    await fail(active)
    // At the port of all clients it would take six minutes.
    expect(others).toContain(await eventually(() => whichOf(others, isActive)))
  })
})

/** A container in which processes come and go can not always be frozen at the first try. */
async function freeze(...names: readonly string[]): Promise<void> {
  for (const name of names) await eventually(() => docker('pause', name))
}

function threeAddresses(family: 'IPv4' | 'IPv6' = 'IPv4'): readonly [string, string, string] {
  return [containers.address(11, family), containers.address(12, family), containers.address(13, family)]
}

/**
 * Starts three members at once.
 *
 * @param prepare what runs before, by the number of the member
 */
async function startThree(
  family: 'IPv4' | 'IPv6',
  members: readonly [string, string, string] = threeAddresses(family),
  prepare: Readonly<Record<string, string>> = {},
): Promise<readonly [string, string, string]> {
  const start = (number: number): Promise<string> =>
    containers.startCentral(String(number), members[number - 1] ?? '', members, {
      prepare: prepare[number] ?? ':',
    })
  return Promise.all([start(1), start(2), start(3)])
}

async function untilOneCluster(names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => untilHealthy(name)))
  for (const database of ['nb', 'sb']) {
    const ids = await Promise.all(
      names.map((name) => docker('exec', name, 'ovsdb-tool', 'db-cid', `/etc/ovn/ovn${database}_db.db`)),
    )
    expect(new Set(ids).size).toBe(1)
  }
}

async function untilSaid(name: string, text: string): Promise<void> {
  await eventually(async () => {
    expect(await run(['sh', '-c', 'docker logs "$1" 2>&1', 'sh', name])).toContain(text)
  })
}

async function status(name: string, database: 'nb' | 'sb' = 'nb'): Promise<string> {
  const schema = database === 'nb' ? 'OVN_Northbound' : 'OVN_Southbound'
  return docker('exec', name, 'ovn-appctl', '-t', `/run/ovn/ovn${database}_db.ctl`, 'cluster/status', schema)
}

async function leads(name: string, database: 'nb' | 'sb' = 'nb'): Promise<boolean> {
  return /^Role: leader$/m.test(await status(name, database))
}

async function isActive(name: string): Promise<boolean> {
  return (await docker('exec', name, 'ovn-appctl', '-t', 'ovn-northd', 'status')).includes('Status: active')
}

async function clusterSize(name: string): Promise<number> {
  return [...(await status(name)).matchAll(/ at tcp:/g)].length
}

/** @throws if it holds for none of them */
async function whichOf(names: readonly string[], holds: (name: string) => Promise<boolean>): Promise<string> {
  for (const name of names) if (await holds(name)) return name
  throw new Error('it holds for none')
}
