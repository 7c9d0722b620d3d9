import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  addressesOfPod,
  applyAll,
  deleteAll,
  readExample,
  untilPodsReady,
  type ApiObject,
  type PodObject,
} from '@kube-ovn/lab'
import { leaveBundleOnFailure } from '@kube-ovn/testing-bundle'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { describeExplain } from './ko-explain.ts'
import { openSuiteCluster, type SuiteCluster } from './suite-cluster.ts'
import { TraceMatrix } from './trace-matrix.ts'

/** As `npm run build` makes it. */
const program = resolve(import.meta.dirname, '../../../dist/programs/kubectl-ko')

let cluster: SuiteCluster
let examples: readonly ApiObject[]
let shop: readonly PodObject[]
let stock: readonly PodObject[]
let tills: readonly PodObject[]
let directory: string

beforeAll(async () => {
  cluster = await openSuiteCluster({ id: 'ko', nodes: 2 }, { pinger: { enabled: true } })
  directory = await mkdtemp(join(tmpdir(), 'kube-ovn-ko-'))
  examples = ['01-two-subnets', '13-network-policies'].flatMap((name) => readExample(name, cluster.stack))
  await applyAll(cluster.api, examples)
  shop = await untilPodsReady(cluster.api, 'shop', 'app=web', 3)
  stock = await untilPodsReady(cluster.api, 'stock', 'app=db', 3)
  tills = await untilPodsReady(cluster.api, 'guarded', 'app=till', 2)
})

beforeEach(() => leaveBundleOnFailure(cluster.evidence))

afterAll(async () => {
  await rm(directory, { recursive: true, force: true })
  await deleteAll(cluster.api, examples)
  await cluster[Symbol.asyncDispose]()
})

interface Ended {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `kubectl ko` as a user does, in a directory of its own. */
function ko(...args: readonly string[]): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>()
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfig }
  const options = { cwd: directory, env, maxBuffer: 64 * 1024 * 1024 }
  execFile(program, args, options, (error, stdout, stderr) => {
    const code: unknown = error?.code
    resolve({ exitCode: error === null ? 0 : typeof code === 'number' ? code : -1, stdout, stderr })
  })
  return promise
}

function nameOf({ metadata: { namespace = '', name } }: PodObject): string {
  return `${namespace}/${name}`
}

/** The name of its logical port. */
function portOf({ metadata: { namespace = '', name } }: PodObject): string {
  return `${name}.${namespace}`
}

function first<T>([item]: readonly T[]): T {
  if (item === undefined) throw new Error('there is none')
  return item
}

describe('tools of OVN and Open vSwitch', () => {
  it.each([
    { line: 'nbctl show', says: 'switch ' },
    { line: 'sbctl show', says: 'Chassis ' },
    { line: 'nb status', says: 'status: ok' },
    { line: 'sb status', says: 'status: ok' },
    { line: 'nb dbstatus', says: 'status: ok' },
  ])('$line', async ({ line, says }) => {
    const { exitCode, stdout } = await ko(...line.split(' '))
    expect(exitCode).toBe(0)
    expect(stdout).toContain(says)
  })

  it('run on every node, and end as the tool does', async () => {
    for (const node of new Set([...shop, ...stock].map(({ spec }) => spec?.nodeName ?? ''))) {
      expect(await ko('vsctl', node, 'show')).toMatchObject({ exitCode: 0 })
      expect(await ko('ofctl', node, 'show', 'br-int')).toMatchObject({ exitCode: 0 })
      expect(await ko('appctl', node, 'list-commands')).toMatchObject({ exitCode: 0 })
      expect(await ko('vsctl', node, 'get', 'Interface', 'no-such', 'name')).toMatchObject({ exitCode: 1 })
    }
    expect(await ko('vsctl', 'no-such-node', 'show')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('no-such-node'),
    })
  })

  it('keep arguments as they are: no shell reads them', async () => {
    const { exitCode, stderr } = await ko('nbctl', 'get', 'Logical_Switch', '$(reboot); `id`', 'name')
    expect(exitCode).toBe(1)
    expect(stderr).toContain('$(reboot); `id`')
  })

  it.each(['nb', 'sb'])('copy the %s database into a file', async (database) => {
    const path = join(directory, `${database}.db`)
    const { exitCode, stdout } = await ko(database, 'backup', path)
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `backup ovn-${database} db to ${path}\n` })
    expect(await readFile(path, 'utf8')).toMatch(/^OVSDB (JSON|CLUSTER) /)
  })

  it('say for programs what came of it', async () => {
    const file = join(directory, 'told.db')
    const backup = await ko('nb', 'backup', file, '-o', 'json')
    const { size: bytes } = await stat(file)
    expect(JSON.parse(backup.stdout)).toEqual({
      ...{ database: 'OVN_Northbound', file, bytes },
      leader: expect.stringMatching(/^ovn-central-/),
    })
    // A database that stands alone has no members, and one that has some has none of this name.
    const kick = await ko('nb', 'kick', 'nobody', '-o', 'json')
    expect(kick.exitCode).not.toBe(0)
    expect(JSON.parse(kick.stdout)).toMatchObject({ server: 'nobody', isKicked: false })
  })
})

describe('what other tools go by', () => {
  interface Selected {
    readonly metadata: { readonly name: string }
    readonly spec: { readonly containers: readonly { readonly name: string }[] }
  }

  async function select(selector: string): Promise<readonly Selected[]> {
    const path = `/api/v1/namespaces/kube-system/pods?labelSelector=${encodeURIComponent(selector)}`
    return (await cluster.api.call<{ items: readonly Selected[] }>('GET', path)).items
  }

  it.each(['ovn-nb-leader', 'ovn-sb-leader', 'ovn-northd-leader'])(
    'one pod has the label %s',
    async (label) => {
      const leaders = async (): Promise<readonly string[]> =>
        (await select(`${label}=true`)).map(({ metadata }) => metadata.name)
      await expect.poll(leaders, { timeout: 60_000 }).toEqual([expect.stringMatching(/^ovn-central-/)])
    },
  )

  it.each([
    { app: 'ovn-central', container: 'ovn-central' },
    { app: 'ovs', container: 'openvswitch' },
    { app: 'kube-ovn-cni', container: 'cni-server' },
    { app: 'kube-ovn-pinger', container: 'pinger' },
  ])('the first container of $app is $container', async ({ app, container }) => {
    const found = await select(`app=${app}`)
    expect(new Set(found.map(({ spec }) => spec.containers[0]?.name))).toEqual(new Set([container]))
  })
})

describe('ovn-trace', () => {
  it('delivers to pods of other subnets, by each family and protocol', async () => {
    const target = first(stock)
    for (const address of addressesOfPod(target)) {
      for (const protocol of [['icmp'], ['tcp', '80'], ['udp', '53']]) {
        const { exitCode, stdout, stderr } = await ko('ovn-trace', nameOf(first(shop)), address, ...protocol)
        expect(exitCode).toBe(0)
        expect(stdout.trimEnd().split('\n').at(-1)).toContain(`output to "${portOf(target)}"`)
        expect(stderr.trimEnd().split('\n').at(-1)).toBe(`delivered to ${portOf(target)}`)
      }
    }
  })

  it('names the policy that drops a packet', async () => {
    const address = first(addressesOfPod(first(tills)))
    const { exitCode, stdout } = await ko(
      'ovn-trace',
      nameOf(first(shop)),
      address,
      'tcp',
      '8080',
      '-o',
      'json',
    )
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: { outcome: 'dropped', by: { table: 'ACL', owner: 'network-policy/guarded/till' } },
    })
  })

  it('goes on through the flows of the node, from pods and from nodes', async () => {
    const target = first(stock)
    const address = first(addressesOfPod(target))
    for (const source of [nameOf(first(shop)), `node//${first(shop).spec?.nodeName ?? ''}`]) {
      const { exitCode, stdout, stderr } = await ko('trace', source, address, 'tcp', '80')
      expect(exitCode).toBe(0)
      expect(stdout).toContain('Start OVS Tracing')
      expect(stdout).toContain('Datapath actions:')
      expect(stderr).toContain(`delivered to ${portOf(target)}`)
    }
  })
})

it('traces tell what becomes of packets: of pods, Services, policies, private subnets and VPCs', async () => {
  const [caller] = await untilPodsReady(cluster.api, 'guarded', 'app=caller', 2)
  await using matrix = await TraceMatrix.make(cluster, {
    ...{
      shop: first(shop),
      stock: first(stock),
      till: first(tills),
      caller: first(caller === undefined ? [] : [caller]),
    },
  })
  const sent = await matrix.tell((pair) => matrix.probe(pair))
  const traced = await matrix.tell(async ({ from, address, port }) => {
    const { stdout, stderr } = await ko('ovn-trace', nameOf(from), address, 'tcp', `${port}`, '-o', 'json')
    if (stdout === '') throw new Error(stderr)
    const { verdict } = JSON.parse(stdout) as { verdict: { outcome: string; ports: readonly string[] } }
    // What leaves by a node is not for any of the pods that are asked here.
    const isForNode = verdict.ports.some((port) => port.startsWith('node-'))
    return verdict.outcome === 'delivered' && !isForNode ? 'arrives' : 'is lost'
  })
  expect(traced).toEqual(sent)
  // It says nothing where all is allowed, or nothing.
  for (const outcome of ['arrives', 'is lost'])
    expect(sent.filter((one) => one.endsWith(outcome)).length).toBeGreaterThan(3)
})

it('tcpdump sees what reaches a pod, and ends by itself', async () => {
  // The kubelet's probes come all the time.
  const { exitCode, stdout } = await ko('tcpdump', nameOf(first(shop)), '-c', '1', 'tcp')
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/ IP6? /)
})

describe('what it finds out itself', () => {
  it('status knows the nodes and subnets', async () => {
    const { stdout, stderr } = await ko('status', '-o', 'json')
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toMatchObject({
      leader: expect.stringMatching(/./),
      subnets: expect.arrayContaining([expect.objectContaining({ name: 'shop', isReady: true })]),
    })
  })

  it('status tells of what somebody else changed, and the controller put right', async () => {
    const driftOf = async (): Promise<number> => {
      const { stdout } = await ko('status', '-o', 'json')
      const { controller } = JSON.parse(stdout) as {
        controller: { drift: readonly { feature: string; healed: number }[] }
      }
      return controller.drift.find(({ feature }) => feature === 'subnet')?.healed ?? 0
    }
    const before = await driftOf()
    await ko('nbctl', 'set', 'Logical_Switch', 'stock', 'external_ids:owner=nobody')
    await expect.poll(driftOf, { timeout: 180_000 }).toBeGreaterThan(before)
    expect((await ko('status')).stdout).toMatch(/^queue: .*; drift put right since it started: \d+ \(/m)
  })

  it('topology draws what there is', async () => {
    const { exitCode, stdout } = await ko('topology', '-o', 'svg')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^<svg [^>]*>[^]*>stock<[^]*<\/svg>\n$/)
  })

  it('why misses nothing of a pod that runs', async () => {
    const { exitCode, stdout } = await ko('why', nameOf(first(shop)))
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^flows +done/m)
    expect(stdout).toContain('nothing is missing')
  })

  it('ipam knows who has an address, and finds no contradiction', async () => {
    const who = await ko('ipam', 'who', first(addressesOfPod(first(shop))))
    expect(who.stdout).toContain(nameOf(first(shop)))
    expect((await ko('ipam', 'verify')).stdout).toContain('no contradiction')
  })

  it('topology shows subnets where they are', async () => {
    expect((await ko('topology', 'ovn-cluster')).stdout).toMatch(/─ subnet stock /)
  })

  it('support-bundle has logs, objects and databases, and lacks nothing', async () => {
    const bundle = join(directory, 'bundle')
    const { exitCode, stdout } = await ko('support-bundle', bundle, '--lines', '50', '-o', 'json')
    expect({ exitCode, told: JSON.parse(stdout) as unknown }).toEqual({
      exitCode: 0,
      told: { directory: bundle, files: expect.any(Number), missing: [] },
    })
    expect(await readFile(join(bundle, 'objects/subnets.yaml'), 'utf8')).toContain('name: shop')
  })
})

interface Findings {
  readonly verdict: string
  readonly findings: readonly {
    readonly where: string
    readonly check: string
    readonly subject: string
    readonly isGood: boolean
    readonly result: string
  }[]
}

describe('explain', () => {
  describeExplain({ ko, cluster: () => cluster, shop: () => first(shop), till: () => first(tills) })
})

describe('diagnose', () => {
  it('finds nothing wrong with a cluster that is well, from every node', async () => {
    await expect
      .poll(async () => (await ko('diagnose', 'all', '--only-failed')).stdout, { timeout: 180_000 })
      .toMatch(/^\d+ checks, all is well\n$/)
    const { exitCode, stdout } = await ko('diagnose', 'all', '-o', 'json')
    expect(exitCode).toBe(0)
    const { findings } = JSON.parse(stdout) as Findings
    expect(new Set(findings.map(({ where }) => where))).toEqual(new Set(['cluster', 'node-1', 'node-2']))
    expect(new Set(findings.map(({ check }) => check))).toEqual(
      new Set([
        ...['definition', 'service', 'state', 'leader', 'storage', 'ovs', 'ovn-controller', 'port-bindings'],
        ...['apiserver', 'internal-dns', 'pod', 'node', 'targets'],
      ]),
    )
  })

  it('reaches pods that it makes in a subnet, and leaves none', async () => {
    const { exitCode, stdout } = await ko('diagnose', 'subnet', 'shop', '-o', 'json')
    const { findings } = JSON.parse(stdout) as Findings
    expect(findings.filter(({ isGood }) => !isGood)).toEqual([])
    expect(exitCode).toBe(0)
    // Each of two pods pings two, and asks two ports of each, in each family.
    const families = cluster.stack === 'dual' ? 2 : 1
    expect(findings.map(({ check }) => check).filter((check) => check === 'external')).toHaveLength(
      4 * families,
    )
    expect(findings.filter(({ check }) => check === 'target-ip-ports')).toHaveLength(8 * families)
    await expect
      .poll(
        async () => {
          const path = '/api/v1/namespaces/kube-system/pods?labelSelector=app%3Dconn-check'
          const { items } = await cluster.api.call<{ items: readonly object[] }>('GET', path)
          return items.length
        },
        { timeout: 180_000 },
      )
      .toBe(0)
  })

  it('tells an open port from a closed one, and ends with 1', async () => {
    const [address = ''] = addressesOfPod(first(stock))
    const { exitCode, stdout } = await ko(
      'diagnose',
      'IPPorts',
      `tcp-${address}-8080,tcp-${address}-9`,
      '-o',
      'json',
    )
    expect(exitCode).toBe(1)
    const { findings } = JSON.parse(stdout) as Findings
    expect(
      findings.map(({ where, subject, isGood }) => `${where} ${subject} ${String(isGood)}`).toSorted(),
    ).toEqual(
      ['node-1', 'node-2'].flatMap((node) => [
        `${node} ${address} tcp 8080 true`,
        `${node} ${address} tcp 9 false`,
      ]),
    )
  })

  it.each([
    { args: ['node', 'no-such-node'], code: 1, says: 'no-such-node' },
    { args: ['subnet', 'no-such-subnet'], code: 1, says: 'no-such-subnet' },
    { args: ['node'], code: 2, says: 'write kubectl ko diagnose node and its name' },
    { args: ['IPPorts', '10.0.0.1:80'], code: 2, says: 'write PROTOCOL-ADDRESS-PORT' },
  ])('$args ends with $code', async ({ args, code, says }) => {
    const { exitCode, stderr } = await ko('diagnose', ...args)
    expect({ exitCode, lines: stderr.trimEnd().split('\n').length }).toEqual({ exitCode: code, lines: 1 })
    expect(stderr).toContain(says)
  })
})

it('env-check judges settings of every node', async () => {
  const { stdout } = await ko('env-check', '-o', 'json')
  const { findings } = JSON.parse(stdout) as Findings
  for (const where of ['node-1', 'node-2'])
    expect(findings).toContainEqual(expect.objectContaining({ where, check: 'ip_forward', isGood: true }))
})

it('matrix shows every pair of nodes, and draws it', async () => {
  const path = join(directory, 'matrix.svg')
  const { exitCode, stdout } = await ko('matrix', '-o', 'json', '--svg', path)
  expect(exitCode).toBe(0)
  const { measured } = JSON.parse(stdout) as {
    measured: readonly { from: string; to: string; lost: number }[]
  }
  expect(new Set(measured.map(({ from, to }) => `${from} ${to}`))).toEqual(
    new Set(['node-1 node-1', 'node-1 node-2', 'node-2 node-1', 'node-2 node-2']),
  )
  expect(await readFile(path, 'utf8')).toContain('node-1 to node-2: ')
  expect((await ko('matrix')).stdout).toMatch(
    /^FROM \\ TO, MS +NODE-1 +NODE-2\nnode-1 +\d+\.\d\d +\d+\.\d\d\n/,
  )
})

describe('perf', () => {
  async function left(): Promise<readonly string[]> {
    const path = '/api/v1/namespaces/kube-system/'
    const listed = await Promise.all(
      ['pods', 'services'].map((kind) =>
        cluster.api.call<{ items: readonly ApiObject[] }>(
          'GET',
          `${path}${kind}?labelSelector=app%3DPerfTest`,
        ),
      ),
    )
    return listed.flatMap(({ items }) => items).map(({ metadata }) => metadata.name)
  }

  it('measures between pods, hosts and through a Service, draws it, and leaves nothing', async () => {
    const path = join(directory, 'perf.svg')
    const { exitCode, stdout, stderr } = await ko(
      ...['perf', '--sizes', '64,1024', '--seconds', '0.2', '-o', 'json', '--svg', path],
    )
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(/^starting pods\n/) })
    const { from, to, measured } = JSON.parse(stdout) as {
      readonly from: string
      readonly to: string
      readonly measured: readonly { path: string; size: number; tcpBitsPerSecond: number }[]
    }
    expect([from, to].toSorted()).toEqual(['node-1', 'node-2'])
    expect(measured.map(({ path: of, size }) => `${of} ${size}`)).toEqual(
      ['pod', 'host', 'service'].flatMap((of) => [`${of} 64`, `${of} 1024`]),
    )
    for (const { tcpBitsPerSecond } of measured) expect(tcpBitsPerSecond).toBeGreaterThan(0)
    expect(await readFile(path, 'utf8')).toContain('From node-2 to node-1')
    expect(await left()).toEqual([])
  })

  it('takes its pods away when it is told to end while it measures', async () => {
    const env = { ...process.env, KUBECONFIG: cluster.kubeconfig }
    const args = ['perf', '--sizes', '64', '--seconds', '600']
    const child = spawn(program, args, { cwd: directory, env, stdio: ['ignore', 'ignore', 'pipe'] })
    const ended = once(child, 'exit')
    let said = ''
    for await (const piece of child.stderr.setEncoding('utf8')) {
      said += String(piece)
      if (said.endsWith('measuring pod with messages of 64 bytes\n')) child.kill('SIGTERM')
    }
    const [code] = (await ended) as [number | null]
    expect({ code, said }).toEqual({ code: 143, said: expect.stringMatching(/\nremoving pods\n$/) })
    expect(await left()).toEqual([])
  })

  it('says which node is not there', async () => {
    const { exitCode, stderr } = await ko('perf', '--from', 'no-such-node')
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('no-such-node') })
  })
})

it('log saves what components have logged, and the state of nodes', async () => {
  const { exitCode, stdout } = await ko('log', 'all', '--lines', '50')
  const saved = join(directory, 'kubectl-ko-log')
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: `Collected files have been saved in the directory ${saved}\n`,
  })
  for (const node of ['node-1', 'node-2']) {
    expect(await readFile(join(saved, node, 'openvswitch/ovs-vswitchd.log'), 'utf8')).not.toBe('')
    expect(await readFile(join(saved, node, 'linux/route.log'), 'utf8')).toContain('ovn0')
  }
  expect(await ko('log', 'nobody')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Allowed choices'),
  })
})

describe('plan', () => {
  const manifest = `
apiVersion: kubeovn.io/v1
kind: Subnet
metadata: { name: quay }
spec: { cidrBlock: 10.91.0.0/24 }
`
  interface Plan {
    readonly rows: readonly { readonly action: string; readonly table: string; readonly row: string }[]
    readonly refusals: readonly object[]
  }

  async function write(name: string, text: string): Promise<string> {
    const path = join(directory, name)
    await writeFile(path, text)
    return path
  }

  /** Identifiers of rows that the Northbound has. */
  async function rowsOf(table: string): Promise<readonly string[]> {
    const { stdout } = await ko('nbctl', '--bare', '--columns=external_ids', 'list', table)
    return [...stdout.matchAll(/\bid=(\S+)/g)].map(([, id = '']) => `${table} ${id}`)
  }

  it('announces what then comes, and changes nothing by itself', async () => {
    const path = await write('quay.yaml', manifest)
    const tables = ['Logical_Switch', 'Logical_Router_Port', 'Logical_Router_Policy', 'Port_Group']
    const present = async (): Promise<readonly string[]> => (await Promise.all(tables.map(rowsOf))).flat()
    const before = new Set(await present())
    const { exitCode, stdout } = await ko('plan', '-f', path, '-o', 'json')
    expect(exitCode).toBe(0)
    expect(new Set(await present())).toEqual(before)
    const announced = (JSON.parse(stdout) as Plan).rows
      .filter(({ action, table }) => action === 'add' && tables.includes(table))
      .map(({ table, row }) => `${table} ${row}`)
    expect(announced).toContain('Logical_Switch ls/quay')
    const quay = {
      apiVersion: 'kubeovn.io/v1',
      kind: 'Subnet',
      metadata: { name: 'quay' },
      spec: { cidrBlock: '10.91.0.0/24' },
    }
    await applyAll(cluster.api, [quay])
    try {
      await expect
        .poll(async () => (await present()).filter((row) => !before.has(row)).toSorted(), {
          timeout: 180_000,
        })
        .toEqual(announced.toSorted())
      expect((await ko('plan', '-f', path)).stdout).toContain('0 rows to add, 0 to change, 0 to remove')
      const gone = JSON.parse((await ko('plan', '--delete', '-f', path, '-o', 'json')).stdout) as Plan
      expect(gone.rows).toContainEqual(expect.objectContaining({ action: 'remove', row: 'ls/quay' }))
    } finally {
      await deleteAll(cluster.api, [quay])
    }
  })

  it('tells what would be refused, and ends with 1', async () => {
    const path = await write('overlaps.yaml', manifest.replace('10.91.0.0/24', '10.16.0.0/24'))
    const { exitCode, stdout } = await ko('plan', '-f', path)
    expect(exitCode).toBe(1)
    expect(stdout).toContain('refused, subnet/quay: subnet conflicts with something that exists')
  })

  it('ends with 2 for what is no manifest, and with 1 for whom it is not', async () => {
    expect(await ko('plan', '-f', 'no-such-file')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('write the path of a manifest'),
    })
    const path = await write('quay.yaml', manifest)
    expect(await ko('--as', 'nobody', 'plan', '-f', path)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('ask for the ClusterRole'),
    })
  })
})

it('reload restarts a component, and waits until it runs again', async () => {
  const podOf = async (): Promise<string> => {
    const path = '/api/v1/namespaces/kube-system/pods?labelSelector=app%3Dkube-ovn-cni'
    const { items } = await cluster.api.call<{ items: readonly PodObject[] }>('GET', path)
    return items.map(({ metadata }) => metadata.name).join()
  }
  const before = await podOf()
  const { exitCode, stdout } = await ko('reload', 'kube-ovn-cni')
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/^kube-ovn-cni {3}restarted {3}\d+\.\d s\n$/)
  expect(await podOf()).not.toBe(before)
  expect(await ko('reload', 'nobody')).toMatchObject({ exitCode: 2 })
})

it('version tells the controller and Kubernetes', async () => {
  const { exitCode, stdout } = await ko('version', '-o', 'json')
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ kubernetes: expect.stringMatching(/^v1\./) })
  expect((await ko('__complete', '--', 'vsctl', '')).stdout).toBe('node-1\nnode-2\n')
})

it('says in one sentence that there is no such pod, and no such cluster', async () => {
  const missing = await ko('why', 'shop/no-such-pod')
  expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('shop/no-such-pod') })
  expect(missing.stderr.trimEnd()).not.toContain('\n')
  const elsewhere = await ko('--kubeconfig', join(directory, 'none'), 'status')
  expect(elsewhere).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('give a kubeconfig') })
})
