import { podAnnotations } from '@kube-ovn/annotations'
import type { KubeClient, KubeObject, Resource } from '@kube-ovn/kube'
import { events, nodes, pods } from '@kube-ovn/kube-api/core'
import { node, pod, type PodFields } from '@kube-ovn/testing-builders'

/** The name of an object, in a namespace if it is not `default`. */
interface Named {
  readonly name: string
  readonly namespace?: string
}

type Annotations = Readonly<Record<string, string>>

/** What users and nodes do, and what they are told. */
export class User {
  readonly #client: KubeClient

  constructor(client: KubeClient) {
    this.#client = client
  }

  /** Makes nodes of these names, with an address of each family. */
  async createNodes(...names: readonly string[]): Promise<void> {
    for (const [index, name] of names.entries()) {
      const host = 11 + index
      await this.#client.create(nodes, node({ name, addresses: [`172.18.0.${host}`, `fd00:18::${host}`] }))
    }
  }

  /** Gives a node other addresses for those that it has. */
  async renumberNode(name: string, ...addresses: readonly string[]): Promise<void> {
    const status = { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) }
    const merge = 'application/merge-patch+json'
    await this.#client.patch(nodes, { name }, merge, { status }, { subresource: 'status' })
  }

  /** Makes a pod on the first node, unless it says otherwise. */
  async createPod(fields: PodFields): Promise<void> {
    await this.#client.create(pods, pod({ node: 'n1', ...fields }))
  }

  async annotationsOf({ name, namespace = 'default' }: Named): Promise<Annotations> {
    return (await this.#client.get(pods, { namespace, name }))?.metadata.annotations ?? {}
  }

  /** The addresses that a pod was told, as `v4,v6`; empty while there are none. */
  async addressOf(name: string, namespace = 'default'): Promise<string> {
    return (await this.annotationsOf({ name, namespace }))[podAnnotations().ipAddress.key] ?? ''
  }

  async addressesOf(...names: readonly string[]): Promise<readonly string[]> {
    return Promise.all(names.map((name) => this.addressOf(name)))
  }

  /** Changes annotations of a pod; `null` takes one away. */
  async annotate(
    { name, namespace = 'default' }: Named,
    annotations: Readonly<Record<string, string | null>>,
  ): Promise<void> {
    await this.#merge(pods, { namespace, name }, { metadata: { annotations } })
  }

  /** Changes fields of a specification; `null` takes one away. */
  async edit<T extends KubeObject>(resource: Resource<T>, of: string | Named, spec: object): Promise<void> {
    await this.#merge(resource, typeof of === 'string' ? { name: of } : of, { spec: { ...spec } })
  }

  /** What our events about an object of this name say, as `reason: message`; the API server may tell of it, too. */
  async told(about: string, type: 'Normal' | 'Warning' = 'Warning'): Promise<readonly string[]> {
    const { items } = await this.#client.list(events)
    return items
      .filter(({ reportingComponent }) => reportingComponent?.startsWith('kube-ovn') === true)
      .filter(({ involvedObject, type: is }) => involvedObject.name === about && is === type)
      .map(({ reason = '', message = '' }) => `${reason}: ${message}`)
  }

  async #merge<T extends KubeObject>(
    resource: Resource<T>,
    ref: { readonly namespace?: string; readonly name: string },
    change: object,
  ): Promise<void> {
    await this.#client.patch(resource, ref, 'application/merge-patch+json', { ...change })
  }
}
