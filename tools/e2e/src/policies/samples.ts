import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import {
  addressesOfPod,
  databaseLeader,
  eventually,
  findColumn,
  kubectl,
  namespaceOf,
  nbctl,
  ovnCentral,
  placeOf,
  runAt,
  untilPodsReady,
  type ApiObject,
  type Cluster,
  type Place,
} from '@kube-ovn/lab'
import { formatIp, parseIp } from '@kube-ovn/ip'
import { originOfRow } from '@kube-ovn/policy/explain'
import { expect, it } from 'vitest'
import { among, blocked, during, entered, expectClaims, port } from './claims.ts'
import { informationElement, IpfixDecoder } from './ipfix.ts'
import { isReached } from './packets.ts'

/** Each node tells a collector of its own: no packet goes anywhere. */
export const sampleTarget = '127.0.0.1:4739'

const policy = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'sampled', namespace: 'shop' },
  spec: {
    podSelector: {},
    policyTypes: ['Ingress'],
    ingress: [
      { from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'village' } } }] },
      { from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'stock' } } }] },
    ],
  },
} as ApiObject

/** What a sample says. */
interface Sample {
  readonly cookie: number
  /** `tunnel_key` of its datapath. */
  readonly datapath: number
  readonly destination: string
}

/** Where samples of what is decided lead to. */
export function samples(lab: () => Cluster): void {
  it('come to collectors, of what is let in and what is dropped, and lead to switch, policy and rule', async () => {
    const cluster = lab()
    const [dbs, webs] = await Promise.all([
      untilPodsReady(cluster.api, 'stock', 'app=db', 3),
      untilPodsReady(cluster.api, 'shop', 'app=web', 3),
    ])
    const [[db], [web, other]] = [dbs, webs]
    if (db === undefined || web === undefined || other === undefined) return expect.unreachable()
    const central = await ovnCentral(cluster)
    const [, shop = ''] =
      /\((.*)\)/.exec(await nbctl(central, 'lsp-get-ls', `${web.metadata.name}.shop`)) ?? []
    using collectors = new DisposableStack()
    const seen: Sample[] = []
    for (const { place } of cluster.nodes) collect(place, seen, collectors)
    await tellTemplatesOften(cluster)
    const told = addressesOfPod(web).flatMap((address) => [
      `${address} on ${shop}: allow-related NetworkPolicy shop/sampled spec.ingress[1]`,
      `${address} on ${shop}: drop NetworkPolicy shop/sampled spec.policyTypes`,
    ])
    const known = new Map<string, string>()
    await during(cluster, [policy], async () => {
      await expectClaims(cluster, 'stock comes in, and no others', [entered, { ...among, ...blocked }])
      await eventually('samples lead to all of it', async () => {
        await isReached(placeOf(cluster, db), web, placeOf(cluster, web), port)
        await isReached(placeOf(cluster, other), web, placeOf(cluster, web), port)
        for (const sample of seen.splice(0)) {
          const key = JSON.stringify(sample)
          if (!known.has(key)) known.set(key, await describeSample(cluster, central, sample))
        }
        const texts = new Set(known.values())
        return told.every((text) => texts.has(text)) || undefined
      }).catch((error: unknown) => {
        expect([...new Set(known.values())]).toEqual(expect.arrayContaining(told))
        throw error
      })
    })
  })
}

/** Listens where a node tells samples, as a collector of IPFIX does, as long as the stack lives. */
function collect(place: Place, seen: Sample[], stack: DisposableStack): void {
  const [, listened = ''] = sampleTarget.split(':')
  const script = `require('node:dgram').createSocket('udp4').on('message', (message) => console.log(message.toString('hex'))).bind(${listened}, '127.0.0.1')`
  // The node's network with this machine's files: a node has no Node.js.
  const child = spawn('nsenter', [`--net=${namespaceOf(place)}`, '--', process.execPath, '-e', script])
  stack.defer(() => void child.kill('SIGKILL'))
  const decoder = new IpfixDecoder()
  createInterface({ input: child.stdout }).on('line', (line) => {
    for (const record of decoder.read(Buffer.from(line, 'hex'))) {
      const { destinationIpv4, destinationIpv6, observationDomainId, observationPointId } = informationElement
      const address = record.get(destinationIpv4) ?? record.get(destinationIpv6)
      const [domain, point] = [record.get(observationDomainId), record.get(observationPointId)]
      if (address === undefined || domain === undefined || point === undefined) continue
      seen.push({
        cookie: point.readUInt32BE(),
        datapath: domain.readUInt32BE() & 0xff_ff_ff,
        destination: addressText(address),
      })
    }
  })
}

function addressText(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.')
  const words = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16))
  return formatIp(parseIp(words.join(':')))
}

/** A collector that comes later knows nothing of records before it is told their templates, which is every ten minutes. */
async function tellTemplatesOften(cluster: Cluster): Promise<void> {
  const pods = await kubectl(cluster, 'get', 'pods', '-n', 'kube-system', '-l', 'app=ovs', '-o', 'name')
  for (const pod of pods.split('\n').filter((line) => line !== '')) {
    const exec = ['exec', '-n', 'kube-system', pod, '--'] as const
    const rows = await kubectl(cluster, ...exec, 'ovs-vsctl', '--bare', '--columns=_uuid', 'list', 'IPFIX')
    for (const row of rows.split('\n').filter((line) => line !== ''))
      await kubectl(cluster, ...exec, 'ovs-vsctl', 'set', 'IPFIX', row, 'template_interval=1')
  }
}

/** Where a sample leads to: by its datapath to a switch, by its cookie to an ACL, and by that to policy and rule. */
async function describeSample(
  cluster: Cluster,
  central: Place,
  { cookie, datapath, destination }: Sample,
): Promise<string> {
  const southbound = (await databaseLeader(cluster, 'southbound')).place
  const columns = ['ovn-sbctl', '--timeout=10', '--bare', '--columns=external_ids']
  const ids = await runAt(southbound, [...columns, 'find', 'Datapath_Binding', `tunnel_key=${datapath}`])
  const [, on = ''] = /(?:^|\s)name=(\S+)/.exec(ids) ?? []
  const [sample = ''] = await findColumn(central, 'Sample', '_uuid', `metadata=${cookie}`)
  const text = await nbctl(
    central,
    ...['--format=json', '--columns=name,direction,tier,priority,action,match,external_ids'],
    ...['find', 'ACL', `sample_new=${sample}`],
  )
  const { data } = JSON.parse(text) as { readonly data: readonly (readonly unknown[])[] }
  const [name, direction, tier, priority, action, match, marks] = data[0] ?? []
  const { owner, id } = Object.fromEntries((marks as [string, [string, string][]] | undefined)?.[1] ?? [])
  const origin = originOfRow({
    ...{ owner: owner ?? '', id: id ?? '', name: typeof name === 'string' ? name : '' },
    acl: {
      ...{ direction: String(direction), tier: Number(tier), priority: Number(priority) },
      ...{ action: String(action), match: String(match) },
    },
  })
  const { kind = '', key = '', field = '' } = origin ?? {}
  return `${destination} on ${on}: ${String(action)} ${kind} ${key} ${field}`
}
