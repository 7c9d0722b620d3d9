import {
  applyAll,
  deleteAll,
  readExample,
  untilPodsReady,
  type ApiObject,
  type PodObject,
} from '@kube-ovn/lab'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSuiteCluster, type SuiteCluster } from '../suite-cluster.ts'
import { koOf, type Ko } from './run-program.ts'

export type { Ko } from './run-program.ts'

/** The one cluster of all cases, with pods of three namespaces, and a directory in which the program runs. */
export class KoSuite implements AsyncDisposable {
  readonly cluster: SuiteCluster
  readonly directory: string
  readonly shop: readonly PodObject[]
  readonly stock: readonly PodObject[]
  readonly tills: readonly PodObject[]
  readonly #lifetime: AsyncDisposableStack

  private constructor(
    cluster: SuiteCluster,
    directory: string,
    pods: Pick<KoSuite, 'shop' | 'stock' | 'tills'>,
    lifetime: AsyncDisposableStack,
  ) {
    this.cluster = cluster
    this.directory = directory
    this.shop = pods.shop
    this.stock = pods.stock
    this.tills = pods.tills
    this.#lifetime = lifetime
  }

  static async make(): Promise<KoSuite> {
    await using made = new AsyncDisposableStack()
    const cluster = made.use(
      await openSuiteCluster({ id: 'ko', nodes: 2 }, { values: { pinger: { enabled: true } } }),
    )
    const examples: readonly ApiObject[] = ['01-two-subnets', '13-network-policies'].flatMap((name) =>
      readExample(name, cluster.stack),
    )
    made.defer(() => deleteAll(cluster.api, examples))
    const directory = await mkdtemp(join(tmpdir(), 'kube-ovn-ko-'))
    made.defer(() => rm(directory, { recursive: true, force: true }))
    await applyAll(cluster.api, examples)
    const pods = {
      shop: await untilPodsReady(cluster.api, 'shop', 'app=web', 3),
      stock: await untilPodsReady(cluster.api, 'stock', 'app=db', 3),
      tills: await untilPodsReady(cluster.api, 'guarded', 'app=till', 2),
    }
    return new KoSuite(cluster, directory, pods, made.move())
  }

  get ko(): Ko {
    return koOf(this.cluster.kubeconfig, this.directory)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#lifetime.disposeAsync()
  }
}

export function nameOf({ metadata: { namespace = '', name } }: PodObject): string {
  return `${namespace}/${name}`
}

/** The name of its logical port. */
export function portOf({ metadata: { namespace = '', name } }: PodObject): string {
  return `${name}.${namespace}`
}

export function first<T>([item]: readonly T[]): T {
  if (item === undefined) throw new Error('there is none')
  return item
}
