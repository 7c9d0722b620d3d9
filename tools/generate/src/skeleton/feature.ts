import { areaOf } from './areas.ts'
import { dependencyEdits, newDependencies, type NeededPackages } from './dependencies.ts'
import type { Name } from './name.ts'
import { insertAfter, insertBefore, type Skeleton } from './skeleton.ts'

/** The list of all features of the controller. */
const list = 'libs/assembly/controller/src/features.ts'

/** The list of whose rows they are. */
const owners = 'libs/model/ovn-names/src/row-owner.ts'

/** What the files import. */
const needed: NeededPackages = {
  dependencies: {
    '@kube-ovn/domains-control': 'libs/domains/control',
    '@kube-ovn/kube-api': 'libs/model/kube-api',
    '@kube-ovn/ovn-names': 'libs/model/ovn-names',
    '@kube-ovn/reconcile': 'libs/runtime/reconcile',
  },
  devDependencies: {
    '@kube-ovn/testing-builders': 'libs/testing/builders',
    '@kube-ovn/testing-control': 'libs/testing/control',
  },
}

/**
 * A feature that works: an address set with the prefixes of each Subnet. Its suite has the cases that every feature's has,
 * so that what it is to do is written by changing both, case by case.
 */
export function featureSkeleton(areaName: string, name: Name): Skeleton {
  const area = areaOf(areaName)
  const lacking = newDependencies(area.folder, area.manifest, needed)
  const folder = `${area.folder}/src/${name.kebab}`
  return {
    files: {
      [`${folder}/kind.ts`]: kind(name),
      [`${folder}/desired.ts`]: desired(name),
      [`${folder}/desired.test.ts`]: desiredTest(name),
      [`${folder}/feature.ts`]: feature(name),
      [`${folder}/${name.kebab}.it.test.ts`]: suite(name),
      [`docs/design/${name.kebab}.md`]: page(name),
    },
    links: lacking,
    edits: [
      insertBefore(
        list,
        /^\n\/\*\* Everything/m,
        `import { ${name.camel} } from '${area.project}/${name.kebab}'\n`,
      ),
      insertBefore(list, /^\]$/m, `  ${name.camel},\n`),
      insertBefore(
        owners,
        /^\}\n\n\/\*\* The features whose rows/m,
        `  ${name.kebab.includes('-') ? `'${name.kebab}'` : name.kebab}: named('Subnet'),\n`,
      ),
      ...dependencyEdits(area.folder, lacking),
      insertAfter(
        'docs/design/index.md',
        /^\| Feature [\s\S]*?\|\n(?!\|)/m,
        `| [${name.kebab}](./${name.kebab}.md) | an address set for each Subnet |\n`,
      ),
    ],
  }
}

function kind({ kebab, camel, words }: Name): string {
  return `import { externalId, vendor } from '@kube-ovn/ovn-names'
import type { RowKind } from '@kube-ovn/ovn-names'

/** The names of the address sets begin with it. */
export const namePrefix = '${kebab}.'

/** The address set of a Subnet that ${words} keeps. */
export const ${camel}Addresses: RowKind<'Address_Set'> = {
  name: '${kebab}',
  table: 'Address_Set',
  shared: [],
  // What an earlier controller wrote is recognised without its marks, too.
  identify: ({ name, external_ids: ids }) =>
    ids[externalId.vendor] === vendor && name.startsWith(namePrefix) ? name.slice(namePrefix.length) : undefined,
}
`
}

function desired({ camel, pascal }: Name): string {
  return `import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import { externalIds } from '@kube-ovn/domains-control'
import { ${camel}Addresses, namePrefix } from './kind.ts'

export interface ${pascal}Snapshot {
  /** Name of the Subnet. */
  readonly subnet: string
  /** Its prefixes, one of each family that it has. */
  readonly prefixes: readonly string[]
}

/**
 * Computes the address set of a Subnet.
 *
 * @see ovn-nb(5), Address_Set
 */
export function desired${pascal}({ subnet, prefixes }: ${pascal}Snapshot): Desired {
  return {
    ...nothing,
    rows: [
      {
        kind: ${camel}Addresses,
        id: subnet,
        columns: { name: \`\${namePrefix}\${subnet}\`, addresses: prefixes, external_ids: externalIds({}) },
      },
    ],
  }
}
`
}

function desiredTest({ kebab, pascal }: Name): string {
  return `import { expect, it } from 'vitest'
import { shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desired${pascal} } from './desired.ts'

it('lists the prefixes of a Subnet', () => {
  const desired = desired${pascal}({ subnet: 'blue', prefixes: ['10.17.0.0/24', 'fd00:17::/120'] })
  expect(shownRows(desired)).toEqual([
    {
      row: '${kebab}/blue',
      name: '${kebab}.blue',
      addresses: ['10.17.0.0/24', 'fd00:17::/120'],
      external_ids: { vendor: 'kube-ovn' },
    },
  ])
})
`
}

function feature({ kebab, camel, pascal }: Name): string {
  return `import { subnetResource } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import { isNamedAfter, type ControlFeature } from '@kube-ovn/domains-control'
import { desired${pascal}, type ${pascal}Snapshot } from './desired.ts'
import { ${camel}Addresses } from './kind.ts'

/** Keeps an address set with the prefixes of each Subnet. */
export const ${camel}: ControlFeature<string, ${pascal}Snapshot> = {
  name: '${kebab}',
  kinds: [${camel}Addresses],
  mayOwn: (subnet, { id }) => isNamedAfter(subnet, id),
  triggers: [{ on: 'object', resource: subnetResource, keys: (change) => [change.key] }],
  observe(subnet, world) {
    const object = world.subnets.get(subnet)
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined
    const prefixes = (object.spec?.cidrBlock ?? '').split(',').filter((prefix) => prefix !== '')
    return { subnet, prefixes }
  },
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desired${pascal}(snapshot)),
}
`
}

function suite({ kebab, words }: Name): string {
  return `import { subnetResource } from '@kube-ovn/kube-api'
import { subnet } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
const blue = '${kebab}.blue'

beforeEach(async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: '10.17.0.0/24' }))
})

function addressesIn(control: Controller, name: string): readonly string[] | undefined {
  return control.named('Address_Set', name)?.addresses
}

describe('${words}', () => {
  it('is created, changed and deleted with the Subnet', async () => {
    await using control = await cluster.startSettled()
    expect(addressesIn(control, blue)).toEqual(['10.17.0.0/24'])
    await cluster.user.edit(subnetResource, 'blue', { cidrBlock: '10.17.0.0/23' })
    await control.settle()
    expect(addressesIn(control, blue)).toEqual(['10.17.0.0/23'])
    await cluster.client.remove(subnetResource, { name: 'blue' })
    await control.settle()
    expect(addressesIn(control, blue)).toBeUndefined()
  })

  it('counts: nothing is written at a restart, and one transaction puts a row right', async () => {
    await (await cluster.startSettled())[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    await using control = await cluster.startController()
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    await cluster.northbound.nbctl('set', 'Address_Set', blue, 'addresses=10.99.0.0/24')
    await control.settle()
    // Somebody's, and ours.
    expect((await cluster.costs()).transactions).toBe(2)
  })

  it('drift: what somebody changes or deletes is put back', async () => {
    await using control = await cluster.startSettled()
    await cluster.northbound.nbctl('set', 'Address_Set', blue, 'addresses=10.99.0.0/24')
    await control.settle()
    expect(addressesIn(control, blue)).toEqual(['10.17.0.0/24'])
    await cluster.northbound.nbctl('destroy', 'Address_Set', blue)
    await control.settle()
    expect(addressesIn(control, blue)).toEqual(['10.17.0.0/24'])
  })

  it('a foreign row stays as it is', async () => {
    await cluster.northbound.nbctl('create', 'Address_Set', 'name=foreign', 'addresses=192.0.2.1')
    await using control = await cluster.startSettled()
    await cluster.client.remove(subnetResource, { name: 'blue' })
    await control.settle()
    expect(addressesIn(control, 'foreign')).toEqual(['192.0.2.1'])
  })
})
`
}

function page({ kebab }: Name): string {
  return `# ${kebab}

Keeps an address set with the prefixes of each Subnet.

| | |
| --- | --- |
| Rows | Address_Set \`${kebab}.<subnet>\` |
| Kinds owned | \`${kebab}\` |
| Key | name of the Subnet |
| Triggers | Subnets |
| Restart | nothing is written |
| Cost | 1 row for each Subnet |
`
}
