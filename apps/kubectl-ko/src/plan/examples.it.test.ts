import {
  answerPlan,
  northboundTables,
  type ManifestObject,
  type PlanAnswer,
  type PlanRequest,
} from '@kube-ovn/assembly-controller'
import { KubeAlreadyExistsError, type KubeObject } from '@kube-ovn/kube'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
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
  '23-name-servers-of-a-vpc.yaml',
])
const cluster = ControlCluster.ofSuite()

beforeEach(() => cluster.user.createNodes('node-1', 'node-2'))

/** Every row that has a name or our marks, by table and this, with all that is in it. */
function contentOf({ world: { northbound } }: Controller): ReadonlyMap<string, string> {
  const rows = tables.flatMap((table) =>
    [...northbound.scan(table)].map((row) => {
      const { external_ids: ids = {}, name = row._uuid } = { ...row } as {
        readonly external_ids?: Readonly<Record<string, string>>
        readonly name?: string
      }
      return [`${table} ${ids['id'] ?? name}`, JSON.stringify({ ...row, _version: undefined })] as const
    }),
  )
  return new Map(rows)
}

const tables = Object.keys(northboundTables()) as readonly 'ACL'[]

function changed(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .flatMap((row) => {
      if (!before.has(row)) return [`add ${row}`]
      if (!after.has(row)) return [`remove ${row}`]
      return before.get(row) === after.get(row) ? [] : [`change ${row}`]
    })
    .toSorted()
}

function announced({ rows }: PlanAnswer): readonly string[] {
  return rows.map(({ action, table, row }) => `${action} ${table} ${row}`).toSorted()
}

/** A dry run draws no address: the one that it tells stands for that. */
function withoutStandIn(object: KubeObject & { readonly spec?: object }): object {
  const {
    clusterIP: _address,
    clusterIPs: _addresses,
    ...spec
  } = { ...object.spec } as Record<string, unknown>
  return object.kind === 'Service' && _address !== 'None' ? { spec } : {}
}

async function carryOut(ko: Cluster, changes: PlanRequest['changes']): Promise<void> {
  const appliance = new Appliance(ko, 'default')
  for (const { verb, object } of changes) {
    const resource = await appliance.resourceOf(object)
    if (verb === 'delete') {
      await cluster.client.remove(resource, object.metadata, { gracePeriodSeconds: 0 })
      continue
    }
    const { uid: _uid, resourceVersion: _version, managedFields: _fields, ...metadata } = object.metadata
    const wanted: KubeObject = { ...object, metadata, ...withoutStandIn(object) }
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
      )
    }
    const objects: readonly ManifestObject[] = readManifest(readFileSync(join(examples, file), 'utf8'), file)
    for (const verb of ['apply', 'delete'] as const) {
      if (verb === 'delete' && goesInTwoSteps.has(file)) continue
      await control.settle()
      const { changes } = await changesOf(ko, { objects, verb, namespace: 'default' })
      const plan = answerPlan(control.kernel, control.world, { version: 1, changes })
      const before = contentOf(control)
      await carryOut(ko, changes)
      await control.settle()
      expect(changed(before, contentOf(control))).toEqual(announced(plan))
      if (verb === 'apply') expect(plan.rows.length + plan.refusals.length).toBeGreaterThan(0)
    }
  })
})
