import { flagsOf } from './flags.ts'
import { switchedOn, text } from '@kube-ovn/process'
import { vpcResource } from '@kube-ovn/kube-api'
import { deployments, pods } from '@kube-ovn/kube-api/core'
import type { Pod } from '@kube-ovn/kube-api/core'
import { IndexedStore } from '@kube-ovn/kube'
import { keepApplied, TrimmedFieldError } from '@kube-ovn/reconcile'
import { describe, expect, it } from 'vitest'
import { mergeDeclarations, type Needs, type Right, type Watch } from './declarations.ts'
import { domains } from './domains.ts'
import {
  ConflictingDeclarationError,
  UndeclaredFlagError,
  UndeclaredWatchError,
  UndeclaredWritesError,
} from './errors.ts'
import { Stores } from './stores.ts'
import { livingNodes } from './topology/lost-node.ts'

const byNode = ({ spec }: Pod): readonly string[] => [spec.nodeName ?? '']
const byName = ({ metadata }: Pod): readonly string[] => [metadata.name]
const trim = (pod: Pod): Pod => pod
const watch: Watch<Pod> = { resource: pods, trim, indexes: { node: byNode } }

function merged(...all: readonly Needs[]) {
  return mergeDeclarations(all.map((needs, index) => ({ name: `feature-${index + 1}`, ...needs })))
}

describe('what features need', () => {
  it('is watched once for each resource, with the indexes of all', () => {
    const { watches } = merged(
      { watches: [watch, { resource: deployments }] },
      {},
      { watches: [{ resource: pods, trim, indexes: { node: byNode, name: byName } }] },
    )
    expect(watches).toEqual([
      { resource: pods, trim, indexes: { node: byNode, name: byName } },
      { resource: deployments },
    ])
  })

  it.each([
    { field: 'trim', other: { ...watch, trim: (pod: Pod) => pod } },
    { field: 'trim', other: { resource: pods } },
    { field: 'labelSelector', other: { ...watch, labelSelector: 'app=web' } },
    { field: 'fieldSelector', other: { ...watch, fieldSelector: 'spec.nodeName=n1' } },
    { field: 'mayBeAbsent', other: { ...watch, mayBeAbsent: true } },
    { field: 'index node', other: { ...watch, indexes: { node: byName } } },
    { field: 'version', other: { ...watch, resource: { ...pods, version: 'v2' } } },
  ])('is refused when two differ in $field', ({ field, other }) => {
    const merge = () => merged({ watches: [watch] }, { watches: [other] })
    expect(merge).toThrow(ConflictingDeclarationError)
    expect(merge).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({ subject: 'pods.', field, by: ['feature-1', 'feature-2'] }),
      }),
    )
  })

  it('has the flags of all, and refuses one that two mean differently', () => {
    const mine = switchedOn(true, 'Mine.')
    const shared = text('', 'Shared.')
    expect(merged({ flags: { mine, shared } }, { flags: { shared } }).flags).toEqual({ mine, shared })
    const merge = () => merged({ flags: { mine } }, { flags: { mine: switchedOn(true, 'Mine.') } })
    expect(merge).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({ subject: 'mine', field: 'flag', by: ['feature-1', 'feature-2'] }),
      }),
    )
  })

  it('has each table once, and all indexes of the tables that are looked up', () => {
    const lookups = (indexes: readonly string[]) => [{ table: 'Address_Set', indexes }] as const
    const { tables, lookups: all } = merged(
      { tables: [livingNodes], lookups: lookups(['name']) },
      { tables: [livingNodes], lookups: lookups(['name', 'addresses']) },
    )
    expect(tables).toEqual([livingNodes])
    expect(all).toEqual(lookups(['name', 'addresses']))
  })

  it('comes to what the domains need', () => {
    const { watches, rights } = mergeDeclarations([domains])
    expect(watches.length).toBe(domains.watches?.length)
    expect(rights).toEqual([])
  })
})

describe('the flags of a feature', () => {
  const flags = { mine: switchedOn(true, 'Mine.') }

  it('are what the process was given', () => {
    expect(flagsOf(flags, { flags: { mine: false, other: 1 } }).mine).toBe(false)
  })

  it('are not to be had by who declares none', () => {
    expect(() => flagsOf(flags, { flags: {} })).toThrow(UndeclaredFlagError)
  })
})

describe('the stores of what is watched', () => {
  it('are found by the watch, and not for who declares none', () => {
    const store = new IndexedStore<Pod>()
    const stores = new Stores([[pods, store]])
    expect(stores.of(watch)).toBe(store)
    expect(stores.find(vpcResource)).toBeUndefined()
    expect(() => stores.of({ resource: vpcResource })).toThrow(UndeclaredWatchError)
  })
})

describe('what is written of objects of which the watch keeps a part', () => {
  const rest = ({ metadata: { name, annotations } }: Pod): Pod =>
    ({ metadata: annotations === undefined ? { name } : { name, annotations }, spec: {} }) as Pod
  const patching = (writes?: Right['writes']): Needs => ({
    watches: [{ resource: pods, trim: rest }],
    rights: [{ resource: pods, verbs: ['patch'], ...(writes === undefined ? {} : { writes }) }],
  })

  it.each([
    { name: 'annotations', object: { annotations: { color: 'red' } }, field: undefined },
    { name: 'labels', object: { labels: { color: 'red' } }, field: 'metadata.labels.color' },
    {
      name: 'one of two',
      object: { annotations: { color: 'red' }, finalizers: ['ours'] },
      field: 'metadata.finalizers',
    },
  ])('has to be kept: $name', ({ object, field }) => {
    const merge = () => merged(patching([{ metadata: { name: 'web', ...object } }]))
    if (field === undefined) {
      expect(merge).not.toThrow()
      return
    }
    expect(merge).toThrow(TrimmedFieldError)
    expect(merge).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({ owner: 'feature-1', resource: 'pods.', field }),
      }),
    )
  })

  it('has to be said', () => {
    expect(() => merged(patching())).toThrow(UndeclaredWritesError)
    expect(() => merged({ rights: [{ resource: pods, verbs: ['patch'] }] })).not.toThrow()
  })

  it('is how it was applied, of what is applied', () => {
    expect(() => merged(patching('applied'))).toThrow(TrimmedFieldError)
    const watches = [{ resource: pods, trim: keepApplied }]
    expect(() => merged({ ...patching('applied'), watches })).not.toThrow()
  })
})
