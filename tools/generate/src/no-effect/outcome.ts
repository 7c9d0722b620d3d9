import { controlEffects } from '@kube-ovn/testing-control/effects'
import type { ControlSettings } from '@kube-ovn/domains-control'
import { nodeEffects } from '@kube-ovn/features-node/testing/effects'
import { desiredPrefixes } from '@kube-ovn/features-speaker'
import type { KubeObject } from '@kube-ovn/kube'
import type { ProviderNetwork, Subnet, Vip } from '@kube-ovn/kube-api'
import type { Node, Pod } from '@kube-ovn/kube-api/core'
import type { Scene } from './scene.ts'

/** What becomes of a scene in the controller and on a node. */
export interface Outcome {
  /** Everything but what is told of fields without effect. */
  readonly made: string
  readonly problems: string
  /** The objects as the controller leaves them. */
  readonly objects: Readonly<Record<string, readonly KubeObject[] | undefined>>
}

/** What is not compared: what the user wrote is there in any case. */
export interface Own {
  readonly kind: keyof Scene
  /** A field of the specification, or an annotation or label. */
  readonly spec?: string
  readonly key?: string
}

type Effects = ReturnType<typeof controlEffects> & { readonly onNode: readonly unknown[] }

/** Kinds whose specification the controller completes by what objects have. */
const completed: ReadonlySet<keyof Scene> = new Set(['ips', 'vips', 'ovnEips'])

/** What every test begins with is computed once. */
const known = new WeakMap<Scene, Effects>()

function effectsOf(scene: Scene, settings: Partial<ControlSettings>): Effects {
  const effects = controlEffects(scene, { enableDnsNameResolver: true, ...settings })
  const { subnets = [], pods = [], vips = [], nodes = [], providerNetworks = [] } = effects.objects
  const [node] = nodes as readonly Node[]
  if (node === undefined) throw new Error('a scene has a node')
  const networks = providerNetworks as readonly ProviderNetwork[]
  const seen = { subnets: subnets as readonly Subnet[], pods: pods as readonly Pod[] }
  const announced = desiredPrefixes({
    ...seen,
    ...{ vips: vips as readonly Vip[], nodes: [node], services: [], bgpPeers: [] },
    ...{ nodeName: node.metadata.name, aggregates: false },
  })
  return { ...effects, onNode: [...nodeEffects({ ...seen, networks, node }), [...announced.prefixes]] }
}

/** Lets controller and node decide about a scene. */
export function outcomeOf(scene: Scene, own?: Own, settings?: Partial<ControlSettings>): Outcome {
  const effects = (settings === undefined ? known.get(scene) : undefined) ?? effectsOf(scene, settings ?? {})
  if (settings === undefined) known.set(scene, effects)
  const { made, problems, objects, onNode } = effects
  const seen = Object.entries(objects).map(([kind, list]) => [
    kind,
    list.map((object, index) => shown(object, kind === own?.kind && index === 0 ? own : undefined)),
  ])
  return { made: text([made, onNode, seen]), problems: text(problems), objects }
}

/** An object without what its user wrote, and without conditions that only say that something has no effect. */
function shown(object: KubeObject, own: Own | undefined): unknown {
  const { spec, status, metadata } = object as KubeObject & {
    readonly spec?: Readonly<Record<string, unknown>>
    readonly status?: { readonly conditions?: readonly { readonly type?: string }[] }
  }
  const { annotations, labels, ...rest } = metadata
  const { conditions: all = [], ...others } = status ?? {}
  const conditions = all.filter(({ type }) => type !== 'FieldsIgnored')
  return {
    metadata: { ...rest, annotations: without(annotations, own?.key), labels: without(labels, own?.key) },
    // An IP object is what the controller wrote into it.
    spec: own !== undefined && completed.has(own.kind) ? undefined : without(spec, own?.spec),
    status: { ...others, conditions },
  }
}

function without(fields: object | undefined, key: string | undefined): object {
  return Object.fromEntries(Object.entries(fields ?? {}).filter(([name]) => name !== key))
}

function text(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one), 1)
}

/** `refused`: somebody is told what is wrong, which is an effect that nobody overlooks. */
export type Verdict = 'effect' | 'refused' | 'none'

export function compare(before: Outcome, after: Outcome): Verdict {
  if (before.problems !== after.problems) return 'refused'
  return before.made === after.made ? 'none' : 'effect'
}
