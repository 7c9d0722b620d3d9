import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  applyAll,
  chartNamespace,
  controllerLeader,
  databaseLeader,
  deleteAll,
  idlePod,
  isPodReady,
  plainNodes,
  productChecks,
  readExample,
  runCheck,
  strike,
  takeDownPod,
  untilPodsReady,
  upgradeChart,
} from '@kube-ovn/lab'
import type { ApiObject, Cluster, LabNode, PodObject } from '@kube-ovn/lab'
import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { askInTheClear, createAuthority, type AuthorityFiles } from '@kube-ovn/testing-ovsdb'
import { OvsdbClient, TlsHandshakeError, type ClientState } from 'ovsdb-client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { failures } from './check-failures.ts'
import { describeInLab } from './describe-in-lab.ts'
import { capturePackets } from './packet-capture.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab('is installed with TLS')

/** The nodes know each other by IPv4 with both families; a deep run has IPv6 alone. */
const stack = process.env['KUBE_OVN_DEEP'] === '1' ? 'ipv6' : 'dual'
const values = { networking: { enableSsl: true } }
/** Clients of the Northbound and the Southbound, the members of each, and ovn-northd. */
const ports = [6641, 6642, 6643, 6644, 6649]
const secretPath = `/api/v1/namespaces/${chartNamespace}/secrets/kube-ovn-tls`

let cluster: Cluster
let directory: string
/** What the Secret says. */
let own: AuthorityFiles
let made = 0

// Two members: what they tell each other is encrypted, too.
const lab = useSuiteLab({ id: 'tls', stack, nodes: plainNodes(2, 2) }, { values })

beforeAll(async () => {
  ;({ cluster } = lab)
  directory = await mkdtemp(join(tmpdir(), 'kube-ovn-tls-'))
  own = await readSecret('installed')
  await applyAll(cluster.api, readExample('01-two-subnets', stack))
})

afterAll(async () => {
  await deleteAll(cluster.api, readExample('01-two-subnets', stack))
  await rm(directory, { recursive: true })
})

interface SecretObject extends ApiObject {
  readonly data: Readonly<Record<string, string>>
}

/** Writes what the Secret says into files. */
async function readSecret(name: string): Promise<AuthorityFiles> {
  const { data } = await cluster.api.call<SecretObject>('GET', secretPath)
  const write = async (key: string): Promise<string> => {
    const file = join(directory, `${name}-${key}`)
    await writeFile(file, Buffer.from(data[key] ?? '', 'base64'))
    return file
  }
  return {
    caFile: await write('cacert'),
    certificateFile: await write('cert'),
    privateKeyFile: await write('key'),
  }
}

function addressOf({ kubernetes }: LabNode): string {
  return stack === 'ipv6' ? kubernetes.ipv6 : kubernetes.ipv4
}

/** A client of the Northbound on a node. */
function open(node: LabNode, tls: AuthorityFiles): OvsdbClient<OvnNorthbound> {
  const address = addressOf(node)
  return new OvsdbClient<OvnNorthbound>({
    endpoints: [`ssl:${address.includes(':') ? `[${address}]` : address}:6641`],
    schema: ovnNorthboundSchema,
    tables: { NB_Global: {} },
    tls,
  })
}

/** Why a client does not get in, the first time that it waits; undefined if it does. */
function refusal(client: OvsdbClient<OvnNorthbound>): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  client.onState((state: ClientState) => {
    if (state.phase === 'waiting') resolve(state.cause.cause)
    if (state.phase === 'connected') resolve(undefined)
  })
  client.connect().catch(() => undefined)
  return promise
}

async function refusalOf(node: LabNode, tls: AuthorityFiles): Promise<unknown> {
  await using client = open(node, tls)
  return await refusal(client)
}

/** Makes a pod on a node, and takes it away again: all that is between the API and the node's flows has to work. */
async function makePod(nodeName: string): Promise<void> {
  const name = `made-${++made}`
  const pod = idlePod({ name, namespace: 'shop' }, nodeName)
  await cluster.api.apply(pod)
  await untilPodsReady(cluster.api, 'shop', `app=${name}`, 1)
  await takeDownPod(cluster.api, pod)
}

function productPods(): Promise<readonly PodObject[]> {
  return cluster.api.list<PodObject>(`/api/v1/namespaces/${chartNamespace}/pods?labelSelector=type%3Dinfra`)
}

/** Which containers run, and how often they were started. */
async function lives(): Promise<readonly string[]> {
  interface Statuses {
    readonly containerStatuses?: readonly { readonly name: string; readonly restartCount: number }[]
  }
  return (await productPods()).flatMap(({ metadata, status }) =>
    ((status as Statuses | undefined)?.containerStatuses ?? []).map(
      ({ name, restartCount }) => `${metadata.name} ${name} ${restartCount}`,
    ),
  )
}

function check(name: string) {
  return productChecks.find((each) => each.name === name) ?? expect.unreachable(`there is no check ${name}`)
}

describe('databases that talk TLS', () => {
  it('let pods come up on every node, who reach each other', async () => {
    expect(failures([await runCheck(cluster, check('pod to pod'))])).toEqual([])
  })

  it('tell nobody anything in the clear, also when everybody connects anew', async () => {
    const captures = await Promise.all(cluster.nodes.map((node) => capturePackets(node, ports)))
    const [node] = cluster.nodes
    if (node === undefined) expect.unreachable('there are two nodes')
    for (const port of ports)
      expect(await askInTheClear(addressOf(node), port, 'asked-by-the-suite')).not.toContain('{')
    const machine = (await databaseLeader(cluster, 'southbound')).node
    await strike(cluster, { kind: 'kill', target: { component: 'southbound', machine } })
    await strike(cluster, {
      kind: 'kill',
      target: { component: 'controller', machine: (await controllerLeader(cluster)).spec.nodeName ?? '' },
    })
    for (const { name } of cluster.nodes) await makePod(name)

    const packets = (await Promise.all(captures.map((capture) => capture.stop()))).flat()
    const isReadable = ({ text }: { readonly text: string }): boolean => /"(method|result|params)"/.test(text)
    for (const port of ports) {
      const ofPort = packets.filter((packet) => packet.ports.includes(port))
      // That what is in the clear is seen, and that there is something else.
      expect(ofPort.filter(isReadable).length, `${port} in the clear`).toBeGreaterThan(0)
      expect(ofPort.filter((packet) => !isReadable(packet)).length, `${port}`).toBeGreaterThan(10)
    }
    const strangers = packets.filter(isReadable).filter(({ text }) => !text.includes('asked-by-the-suite'))
    expect(strangers.map(({ text }) => text.slice(0, 500))).toEqual([])
  })

  it('refuse whom another authority knows, who is told which file is wrong and what to do', async () => {
    const other = await createAuthority(join(directory, 'other'))
    const [node] = cluster.nodes
    if (node === undefined) expect.unreachable('there are two nodes')
    expect(await refusalOf(node, own)).toBeUndefined()
    const asServer = await refusalOf(node, { ...own, caFile: other.caFile })
    expect(asServer).toBeInstanceOf(TlsHandshakeError)
    expect(asServer).toMatchObject({
      details: { file: other.caFile, cure: expect.stringContaining('authority') },
    })
    const asClient = await refusalOf(node, { ...other, caFile: own.caFile })
    expect(asClient).toBeInstanceOf(TlsHandshakeError)
    expect(asClient).toMatchObject({
      details: { file: other.certificateFile, cure: expect.stringContaining('certificate') },
    })
  })

  it('see a restart of controller and agent write nothing, and lose no packet', async () => {
    expect(failures([await runCheck(cluster, check('restarts'))])).toEqual([])
  })

  it('take what is renewed without a restart, and serve on whoever was there', async () => {
    const renewed = await createAuthority(join(directory, 'renewed'))
    const [node] = cluster.nodes
    if (node === undefined) expect.unreachable('there are two nodes')
    await using before = open(node, own)
    await before.connect(AbortSignal.timeout(120_000))
    const livesBefore = await lives()

    const read = async (file: string): Promise<string> => (await readFile(file)).toString('base64')
    await cluster.api.mergePatch(secretPath, {
      data: {
        cacert: await read(renewed.caFile),
        cert: await read(renewed.certificateFile),
        key: await read(renewed.privateKeyFile),
      },
    })
    // kubelet looks after a pod's volumes at once when the pod changes, else within a minute or so.
    for (const { metadata } of await productPods()) {
      await cluster.api.mergePatch(`/api/v1/namespaces/${chartNamespace}/pods/${metadata.name}`, {
        metadata: { annotations: { 'e2e.kube-ovn/renewed': 'true' } },
      })
    }
    for (const each of cluster.nodes) {
      await expect.poll(() => refusalOf(each, renewed), { timeout: 180_000, interval: 500 }).toBeUndefined()
      expect(await refusalOf(each, own)).toBeInstanceOf(TlsHandshakeError)
    }
    await before.transact([before.operations.comment('still here')])
    expect(before.state.phase).toBe('connected')
    expect((await productPods()).every(isPodReady)).toBe(true)
    expect(await lives()).toEqual(livesBefore)

    // Members, ovn-northd and ovn-controllers find each other with it.
    for (const { name } of cluster.nodes) {
      // All of its pod starts anew.
      await strike(cluster, { kind: 'kill', target: { component: 'southbound', machine: name } })
    }
    for (const { name } of cluster.nodes) await makePod(name)
    own = renewed
  })

  it('keep their certificates over an upgrade, and a cluster its protocol', async () => {
    const { data } = await cluster.api.call<SecretObject>('GET', secretPath)
    const livesBefore = await lives()
    await upgradeChart(cluster, values)
    expect((await cluster.api.call<SecretObject>('GET', secretPath)).data).toEqual(data)
    expect(await lives()).toEqual(livesBefore)
    await expect(upgradeChart(cluster, { networking: { enableSsl: false } })).rejects.toMatchObject({
      details: expect.objectContaining({ output: expect.stringContaining('found the cluster anew') }),
    })
  })
})
