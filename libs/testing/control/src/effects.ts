import { flagDefaults } from './flag-defaults.ts'
import { applyMergePatch, isEqualJson, mergePatch, objectKey } from '@kube-ovn/kube'
import type { KubeObject, ObjectChange, Resource } from '@kube-ovn/kube'
import { conditionType } from '@kube-ovn/kube-api'
import { asApplied, decide, type Desired, type Feature, type Key, type KubePatch } from '@kube-ovn/reconcile'
import { controlFeatures, declarationsOf } from '@kube-ovn/assembly-controller'
import type { ControlSettings, AllocatingWorld, WatchedKinds } from '@kube-ovn/domains-control'
import { watched } from '@kube-ovn/domains-control'
import { shownMembers, shownRows } from '@kube-ovn/domains-control/testing/shown'
import {
  type StillObjects,
  type StillOptions,
  stillWorld,
} from '@kube-ovn/domains-control/testing/still-world'

type Kind = keyof WatchedKinds
export type Objects = { readonly [N in Kind]?: readonly KubeObject[] }

/** Everything that the controller makes of some objects. */
export interface ControlEffects {
  /** Rows, their places in sets of others, and leases. */
  readonly made: readonly unknown[]
  /** The same by key, as features want it. */
  readonly desired: readonly Desired[]
  /** What somebody has to put right. */
  readonly problems: readonly string[]
  /** The objects as they are when the controller has nothing to write any more. */
  readonly objects: Objects
}

// The same for all.
export const declarations = declarationsOf(controlFeatures)
export const defaultFlags = flagDefaults()
export const features = new Map(controlFeatures.map((feature) => [feature.name, feature]))

/** More rounds than any object takes to come to rest. */
export const mostRounds = 8

/** Lets every feature decide about the objects, and about what it wrote into them, until nothing is written any more. */
export function controlEffects(given: StillObjects, settings: Partial<ControlSettings> = {}): ControlEffects {
  let objects: Objects = given
  // Two rounds draw different MAC addresses, and two runs the same ones.
  const randomBytes = repeatableBytes()
  for (let round = 1; round <= mostRounds; round += 1) {
    const { world, decided } = decideAll(objects, {
      settings: { ...settings, flags: { ...defaultFlags, ...settings.flags } },
      randomBytes,
    })
    const patches = [...decided.values()].flatMap(({ patches }) => patches)
    const next = applied(objects, patches)
    if (next === objects) return effectsOf(world, decided, objects)
    objects = next
  }
  throw new Error(`objects have not come to rest in ${mostRounds} rounds: ${JSON.stringify(objects)}`)
}

/** A linear congruential generator, of Numerical Recipes. */
export function repeatableBytes(): (count: number) => Uint8Array {
  let state = 1
  return (count) =>
    Uint8Array.from({ length: count }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state >>> 24
    })
}

type Decisions = ReadonlyMap<string, Desired>

function decideAll(
  objects: Objects,
  options: StillOptions,
): { readonly world: AllocatingWorld; readonly decided: Decisions } {
  const world = stillWorld(objects as StillObjects, {}, { ...options, declarations })
  const decided = new Map<string, Desired>()
  const waiting = new Set<string>()
  const queue = (feature: Feature<Key, unknown, AllocatingWorld>, keys: Iterable<string>): void => {
    for (const key of keys) waiting.add(`${feature.name}\n${key}`)
  }
  const raise: AllocatingWorld['raise'] = (signal, subject) => {
    for (const feature of controlFeatures)
      for (const trigger of feature.triggers)
        if (trigger.on === 'signal' && trigger.signal === signal) queue(feature, trigger.keys(subject, noisy))
  }
  const noisy: AllocatingWorld = { ...world, raise }
  for (const feature of controlFeatures) {
    queue(feature, feature.initialKeys?.(noisy) ?? [])
    for (const trigger of feature.triggers) {
      if (trigger.on !== 'object') continue
      for (const object of objectsOf(objects, trigger.resource)) {
        const change: ObjectChange = { key: objectKey(object), old: undefined, new: object, initial: true }
        queue(feature, trigger.keys(change as ObjectChange<never>, noisy))
      }
    }
  }
  for (const entry of waiting) {
    // Whoever is waked while it is looked at is looked at again.
    waiting.delete(entry)
    const [name = '', key = ''] = entry.split('\n')
    const feature = features.get(name)
    if (feature !== undefined) decided.set(entry, decide(feature, key, noisy).desired)
  }
  return { world, decided }
}

export function objectsOf(objects: Objects, resource: Resource): readonly KubeObject[] {
  const name = kindOf(resource)
  return name === undefined ? [] : (objects[name] ?? [])
}

function kindOf({ group, plural }: Resource): Kind | undefined {
  return (Object.keys(watched) as Kind[]).find(
    (name) => watched[name].resource.plural === plural && watched[name].resource.group === group,
  )
}

/** The objects after the patches; the very same when none of them says anything new. */
export function applied(objects: Objects, patches: readonly KubePatch[]): Objects {
  return patches.reduce((all, { resource, namespace, name, merge = {}, create, apply, remove }) => {
    const kind = kindOf(resource)
    if (kind === undefined) return all
    const key = namespace === undefined ? name : `${namespace}/${name}`
    const list = all[kind] ?? []
    const object = list.find((one) => objectKey(one) === key)
    if (remove === true) {
      return object === undefined ? all : { ...all, [kind]: list.filter((one) => one !== object) }
    }
    if (apply !== undefined) {
      const next = asApplied(apply, object ?? { metadata: { ...apply.metadata, uid: key } })
      if (isEqualJson(next, object)) return all
      return { ...all, [kind]: [...list.filter((one) => one !== object), next] }
    }
    if (object === undefined) {
      const made = create && { ...create, metadata: { uid: key, ...create.metadata } }
      return made === undefined ? all : { ...all, [kind]: [...list, made] }
    }
    const difference = mergePatch(object, merge)
    if (difference === undefined) return all
    const changed = applyMergePatch(object, difference) as KubeObject
    return { ...all, [kind]: list.map((one) => (one === object ? changed : one)) }
  }, objects)
}

function effectsOf(world: AllocatingWorld, decided: Decisions, objects: Objects): ControlEffects {
  const leases = world.networks.scan().flatMap(({ name }) => [...world.ipam.leases(name)])
  const desired = [...decided.values()]
  return {
    made: [
      ...desired.flatMap((one) => [...shownRows(one), ...shownMembers(one), ...createdElsewhere(one)]),
      ...leases.map(plain),
    ],
    desired,
    problems: desired.flatMap(({ problem, events }) => [
      ...(problem === undefined ? [] : [problem.code]),
      ...events.map(({ reason }) => reason).filter((reason) => !toldReasons.includes(reason)),
    ]),
    objects,
  }
}

/** Objects of resources of which there are none here. */
function createdElsewhere({ patches }: Desired): readonly object[] {
  return patches.flatMap(({ resource, create, apply }) => {
    const made = create ?? apply
    return made === undefined || kindOf(resource) !== undefined ? [] : [made]
  })
}

/** Of events that say that something has no effect. */
const toldReasons: readonly string[] = [conditionType.fieldsIgnored, 'AnnotationIgnored']

function plain(value: object): object {
  return Object.fromEntries(
    Object.entries(value).map(([key, one]: [string, unknown]) => [
      key,
      typeof one === 'bigint' ? String(one) : one,
    ]),
  )
}
