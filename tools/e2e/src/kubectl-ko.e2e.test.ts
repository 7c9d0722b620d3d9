import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
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
import { openSuiteCluster, type SuiteCluster } from './suite-cluster.ts'

/** As `npm run build` makes it. */
const program = resolve(import.meta.dirname, '../../../dist/programs/kubectl-ko.mjs')

let cluster: SuiteCluster
let examples: readonly ApiObject[]
let shop: readonly PodObject[]
let stock: readonly PodObject[]
let tills: readonly PodObject[]
let directory: string

beforeAll(async () => {
  cluster = await openSuiteCluster({ id: 'ko', nodes: 2 })
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
  execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) => {
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

  it('explain leads from a pod to its row, and back', async () => {
    const { stdout } = await ko('explain', `pod/${nameOf(first(shop))}`, '-o', 'json')
    const [{ row }] = JSON.parse(stdout) as readonly [{ readonly row: string }]
    const back = await ko('explain', row.slice(0, 8), '-o', 'json')
    expect(JSON.parse(back.stdout)).toMatchObject([
      { table: 'Logical_Switch_Port', owner: `pod-port/${nameOf(first(shop))}` },
    ])
  })

  it('support-bundle has logs, objects and databases, and lacks nothing', async () => {
    const bundle = join(directory, 'bundle')
    expect(await ko('support-bundle', bundle, '--lines', '50')).toMatchObject({ exitCode: 0 })
    expect(await readFile(join(bundle, 'objects/subnets.yaml'), 'utf8')).toContain('name: shop')
  })
})

it('says in one sentence that there is no such pod, and no such cluster', async () => {
  const missing = await ko('why', 'shop/no-such-pod')
  expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('shop/no-such-pod') })
  expect(missing.stderr.trimEnd()).not.toContain('\n')
  const elsewhere = await ko('--kubeconfig', join(directory, 'none'), 'status')
  expect(elsewhere).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('give a kubeconfig') })
})
