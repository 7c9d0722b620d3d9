import {
  answerPlan,
  northboundTables,
  type ManifestObject,
  type PlanAnswer,
  type PlanRequest,
} from '@kube-ovn/assembly-controller'
import { KubeAlreadyExistsError, type KubeObject } from '@kube-ovn/kube'
import { ipResource } from '@kube-ovn/kube-api'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { beforeEach, describe, expect, it } from 'vitest'
import { Cluster } from '../cluster.ts'
import { Appliance } from './applied.ts'
import { changesOf } from './ask.ts'
import { readManifest } from './manifest.ts'

const examples = join(import.meta.dirname, '../../../../docs/examples')
const first = '01-two-subnets.yaml'
/** Their Subnets go when the ports of their pods have gone, which rows tell: a plan does not follow that. */
const goesInTwoSteps: ReadonlySet<string> = new Set([
  ...['07-reserved-addresses.yaml', '10-isolation.yaml', '15-dhcp.yaml', '17-switch-lb-rule.yaml'],
  ...['23-name-servers-of-a-vpc.yaml', '42-policy-of-a-further-network.yaml'],
])
const cluster = ControlCluster.ofSuite()

beforeEach(() => cluster.user.createNodes('node-1', 'node-2'))

type Columns = Readonly<Record<string, unknown>>

/** Every row that has a name or our marks, by table and this, with all that is in it. */
function contentOf({ world: { northbound } }: Controller): ReadonlyMap<string, Columns> {
  const rows = tables.flatMap((table) =>
    [...northbound.scan(table)].map((row) => {
      const { external_ids: ids = {}, name = row._uuid } = { ...row } as {
        readonly external_ids?: Readonly<Record<string, string>>
        readonly name?: string
      }
      const { _uuid, _version, ...columns } = { ...row } as Columns
      return [rowName(table, ids['id'] ?? name), columns] as const
    }),
  )
  return new Map(rows)
}

/** A dry run has drawn another uid for an object than it gets, and the group of a MultiNetworkPolicy is named by it: any stands for any. */
function rowName(table: string, row: string): string {
  return withoutUids(`${table} ${row}`)
}

function withoutUids(text: string): string {
  return text.replaceAll(
    /(?<![\da-f])[\da-f]{8}([.-])[\da-f]{4}(\1[\da-f]{4}){2}\1[\da-f]{12}(?![\da-f])/g,
    'uid',
  )
}

const tables = Object.keys(northboundTables()) as readonly 'ACL'[]

/** What became of rows: of one that is changed with the columns that differ, of one that is new with those that have something. */
function changed(
  before: ReadonlyMap<string, Columns>,
  after: ReadonlyMap<string, Columns>,
): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .flatMap((row) => {
      const [old, now] = [before.get(row), after.get(row)]
      if (now === undefined) return [`remove ${row}`]
      const columns = Object.keys(now).filter((column) =>
        old === undefined ? !isEmpty(now[column]) : !isDeepStrictEqual(old[column], now[column]),
      )
      const told = columns.toSorted().join()
      return old === undefined
        ? [`add ${row} ${told}`]
        : columns.length === 0
          ? []
          : [`change ${row} ${told}`]
    })
    .toSorted()
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === '' || value === false || value === 0) return true
  return typeof value === 'object' && Object.keys(value ?? {}).length === 0
}

function announced({ rows }: PlanAnswer, after: ReadonlyMap<string, Columns>): readonly string[] {
  return rows
    .map(({ action, table, row, columns }) => {
      const name = rowName(table, row)
      // What a new row says to be empty is as good as not said.
      const shown =
        action === 'add' ? columns.filter((column) => !isEmpty(after.get(name)?.[column])) : columns
      return action === 'remove' ? `remove ${name}` : `${action} ${name} ${shown.toSorted().join()}`
    })
    .toSorted()
}

/** Columns of announced rows that then have something else, with both. */
function otherwise({ rows }: PlanAnswer, after: ReadonlyMap<string, Columns>): readonly string[] {
  return rows.flatMap(({ action, table, row, values, gets, loses }) => {
    const now = after.get(rowName(table, row)) ?? {}
    if (action === 'remove') return []
    const present = (column: string): ReadonlySet<string> => new Set(entriesOf(now[column]))
    const wrong = [
      ...Object.entries(values).filter(([column, value]) => {
        const [wanted, had] = [entriesOf(value), present(column)]
        // In a map others may have keys of their own.
        const isWhole = isMap(value) || isMap(now[column]) || wanted.length === had.size
        return !isWhole || wanted.some((entry) => !had.has(entry))
      }),
      ...Object.entries(gets).filter(([column, value]) =>
        entriesOf(value).some((entry) => !present(column).has(entry)),
      ),
      ...Object.entries(loses).filter(([column, value]) => {
        const back = new Set(entriesOf(gets[column]))
        return entriesOf(value).some((entry) => present(column).has(entry) && !back.has(entry))
      }),
    ]
    return wrong.map(
      ([column, value]) =>
        `${table} ${row} ${column}: ${entriesOf(value).join()} is ${entriesOf(now[column]).join()}`,
    )
  })
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members of a set or a map, or the value, as texts. MAC addresses are drawn when a port is made, and link-local ones come of them: any stands for any. */
function entriesOf(value: unknown): readonly string[] {
  if (value === undefined || value === null || value === '' || value === false || value === 0) return []
  const texts = Array.isArray(value)
    ? value.map(String)
    : typeof value === 'object'
      ? Object.entries(value).map(([key, one]) => `${key}=${String(one)}`)
      : [JSON.stringify(value)]
  return texts.map((text) =>
    withoutUids(text).replaceAll(/\b(?:[\da-f]{2}:){5}[\da-f]{2}\b|\bfe80::[\da-f:]+/g, 'drawn'),
  )
}

/** What IP objects record, as a plan tells it. */
async function addressesTaken(): Promise<readonly string[]> {
  const { items } = await cluster.client.list(ipResource)
  return items
    .flatMap(({ metadata, spec = {} }) =>
      [spec.v4IpAddress, spec.v6IpAddress].flatMap((address) =>
        address ? [`${address} of ${spec.subnet} for ${metadata.name}`] : [],
      ),
    )
    .toSorted()
}

interface ServiceSpec {
  readonly clusterIP?: string
  readonly clusterIPs?: readonly string[]
  readonly healthCheckNodePort?: number
  readonly ports?: readonly { readonly port: number; readonly nodePort?: number }[]
}

/** A dry run draws no address and no port of nodes: those that it tells stand for that, unless they are written. */
function withoutStandIn(
  object: KubeObject & { readonly spec?: ServiceSpec },
  manifest: readonly ManifestObject[],
): object {
  if (object.kind !== 'Service' || object.spec === undefined) return {}
  const { name } = object.metadata
  const written = manifest.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name) as
    { readonly spec?: ServiceSpec } | undefined
  const { clusterIP, clusterIPs, ports, healthCheckNodePort: _, ...spec } = object.spec
  return {
    spec: {
      ...spec,
      ...(clusterIP === 'None' ? { clusterIP, clusterIPs } : {}),
      ports: ports?.map(({ nodePort, ...port }) => {
        const isWritten = written?.spec?.ports?.some((one) => one.nodePort === nodePort) === true
        return isWritten ? { ...port, nodePort } : port
      }),
    },
  }
}

async function carryOut(
  ko: Cluster,
  changes: PlanRequest['changes'],
  manifest: readonly ManifestObject[],
): Promise<void> {
  const appliance = new Appliance(ko, 'default')
  for (const { verb, object } of changes) {
    const resource = await appliance.resourceOf(object)
    if (verb === 'delete') {
      await cluster.client.remove(resource, object.metadata, { gracePeriodSeconds: 0 })
      continue
    }
    const { uid: _uid, resourceVersion: _version, managedFields: _fields, ...metadata } = object.metadata
    const wanted: KubeObject = { ...object, metadata, ...withoutStandIn(object, manifest) }
    try {
      await cluster.client.create(resource, wanted)
    } catch (error) {
      if (!(error instanceof KubeAlreadyExistsError)) throw error
      await cluster.client.patch(resource, metadata, 'application/merge-patch+json', wanted)
    }
  }
}

describe('the rows that a plan announces are those that change', () => {
  const files = readdirSync(examples).filter((name) => name.endsWith('.yaml'))
  it.each(files)('%s', { timeout: 300_000 }, async (file) => {
    await using control = await cluster.startController()
    await using ko = await Cluster.open(
      { kubeconfig: cluster.api.kubeconfigPath, systemNamespace: 'kube-system' },
      new AbortController().signal,
    )
    // Others go on where the first one ends.
    if (file !== first) {
      const before = readManifest(readFileSync(join(examples, first), 'utf8'), first)
      await carryOut(
        ko,
        (await changesOf(ko, { objects: before, verb: 'apply', namespace: 'default' })).changes,
        before,
      )
    }
    const objects: readonly ManifestObject[] = readManifest(readFileSync(join(examples, file), 'utf8'), file)
    for (const verb of ['apply', 'delete'] as const) {
      if (verb === 'delete' && goesInTwoSteps.has(file)) continue
      await control.settle()
      const { changes } = await changesOf(ko, { objects, verb, namespace: 'default' })
      const plan = answerPlan(control.kernel, control.world, { version: 1, changes })
      const [before, had] = [contentOf(control), new Set(await addressesTaken())]
      await carryOut(ko, changes, objects)
      await control.settle()
      const after = contentOf(control)
      expect(changed(before, after)).toEqual(announced(plan, after))
      expect(otherwise(plan, after)).toEqual([])
      const written = new Set(
        objects.filter(({ kind }) => kind === 'IP').map(({ metadata }) => metadata.name),
      )
      const isTaken = (taken: string): boolean =>
        !had.has(taken) && !written.has(taken.slice(taken.lastIndexOf(' ') + 1))
      expect((await addressesTaken()).filter(isTaken)).toEqual(
        plan.addresses
          .map(({ address, subnet, record }) => `${address} of ${subnet} for ${record}`)
          .toSorted(),
      )
      if (verb === 'apply') expect(plan.rows.length + plan.refusals.length).toBeGreaterThan(0)
    }
  })
})
