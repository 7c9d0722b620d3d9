import {
  addressesOfPod,
  applyAll,
  deleteAll,
  kubectl,
  readExample,
  untilPodsReady,
  type ApiObject,
  type PodObject,
} from '@kube-ovn/lab'
import pMap from 'p-map'
import type { SuiteCluster } from '../suite-cluster.ts'
import { tracesAtOnce } from './trace-verdict.ts'

/** A private subnet, two VPCs that are peered by one subnet each, and a Service. */
const examples = ['10-isolation', '11-two-vpcs', '12-services'] as const

const plainService = {
  ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'plain', namespace: 'bank' } },
  spec: {
    selector: { app: 'counter' },
    ipFamilyPolicy: 'PreferDualStack',
    ports: [{ port: 80, targetPort: 8080 }],
  },
}

interface Target {
  readonly name: string
  readonly addresses: readonly string[]
  readonly port: number
}

/** One packet that is traced and sent. */
export interface Pair {
  readonly from: PodObject
  readonly to: string
  readonly address: string
  readonly port: number
}

/** Pods that ask, and what they ask: some may, some may not. */
export class TraceMatrix implements AsyncDisposable {
  readonly pairs: readonly Pair[]
  readonly #cluster: SuiteCluster
  readonly #objects: readonly ApiObject[]

  private constructor(cluster: SuiteCluster, objects: readonly ApiObject[], pairs: readonly Pair[]) {
    this.#cluster = cluster
    this.#objects = objects
    this.pairs = pairs
  }

  /** @param known pods that are there already: `shop`, `stock`, `caller` and `till` */
  static async make(
    cluster: SuiteCluster,
    known: Readonly<Record<'shop' | 'stock' | 'caller' | 'till', PodObject>>,
  ): Promise<TraceMatrix> {
    const { api, stack } = cluster
    // The customer of the Service goes when it was served. The Service itself remembers clients, for which the first packet of each is lost.
    const objects = [
      ...examples
        .flatMap((name) => readExample(name, stack))
        .filter(({ metadata }) => metadata.name !== 'customer'),
      plainService,
    ]
    await applyAll(api, objects)
    const ready = async (namespace: string, app: string): Promise<PodObject> => {
      const [pod] = await untilPodsReady(api, namespace, `app=${app}`, 1)
      if (pod === undefined) throw new Error(`${namespace} has no pod ${app}`)
      return pod
    }
    const [safe, red, blue] = await Promise.all([
      ready('vault', 'safe'),
      ready('red', 'edge'),
      ready('blue', 'edge'),
      untilPodsReady(api, 'bank', 'app=counter', 2),
    ])
    const service = await api.call<{ readonly spec: { readonly clusterIPs: readonly string[] } }>(
      'GET',
      '/api/v1/namespaces/bank/services/plain',
    )
    const pod = (name: string, object: PodObject, port: number): Target => ({
      ...{ name, port, addresses: addressesOfPod(object) },
    })
    const targets: readonly Target[] = [
      pod('stock', known.stock, 8080),
      pod('till', known.till, 8080),
      pod('vault', safe, 8080),
      pod('vault', safe, 9090),
      pod('blue', blue, 8080),
      { name: 'service', addresses: service.spec.clusterIPs, port: 80 },
    ]
    // Each pair by one family, in turn.
    const pairs = [known.shop, known.caller, safe, red].flatMap((from, row) =>
      targets
        .filter(({ addresses }) => !addresses.some((address) => addressesOfPod(from).includes(address)))
        .map(({ name, addresses, port }, column) => {
          const address = addresses[(row + column) % addresses.length] ?? ''
          return { from, to: name, address, port }
        }),
    )
    return new TraceMatrix(cluster, objects, pairs)
  }

  /** What becomes of each pair, as somebody finds it out. */
  tell(find: (pair: Pair) => Promise<'arrives' | 'is lost'>): Promise<readonly string[]> {
    const told = async (pair: Pair): Promise<string> => {
      const { from, to, address, port } = pair
      return `${from.metadata.namespace ?? ''} to ${to} ${address} ${port}: ${await find(pair)}`
    }
    return pMap(this.pairs, told, tracesAtOnce)
  }

  /** Opens a connection; one that is refused has arrived as well. */
  async probe({ from, address, port }: Pair): Promise<'arrives' | 'is lost'> {
    const { namespace = '', name } = from.metadata
    const said = await kubectl(
      this.#cluster,
      ...['exec', '-n', namespace, name, '--', 'sh', '-c'],
      `busybox nc -w 2 ${address} ${port} -e true 2>&1 && echo open; true`,
    )
    return /open|refused/.test(said) ? 'arrives' : 'is lost'
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await deleteAll(this.#cluster.api, this.#objects)
  }
}
