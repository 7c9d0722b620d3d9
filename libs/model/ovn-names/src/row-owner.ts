import { externalId, vendor } from './external-ids.ts'
import { vpcOfBalancerGroup } from './names.ts'

/** An object of Kubernetes that rows are of. */
export interface RowObject {
  /** As the API has it, e.g. `Subnet`. */
  readonly kind: string
  /** `namespace/name`, or the name of what has no namespace. */
  readonly key: string
}

type ObjectsOf = (key: string) => readonly RowObject[] | undefined

const named =
  (kind: string): ObjectsOf =>
  (key) =>
    /^[^/]+$/.test(key) ? [{ kind, key }] : undefined

const inNamespace =
  (kind: string): ObjectsOf =>
  (key) =>
    /^[^/]+\/[^/]+$/.test(key) ? [{ kind, key }] : undefined

/** Rows of a pair are both's. */
const ofSubnetOnNode: ObjectsOf = (key) => {
  const [subnet, node, ...others] = key.split('/')
  if (!subnet || !node || others.length > 0) return undefined
  return [
    { kind: 'Subnet', key: subnet },
    { kind: 'Node', key: node },
  ]
}

/** What is there once, of no object. */
const whole =
  (...keys: readonly string[]): ObjectsOf =>
  (key) =>
    keys.includes(key) ? [] : undefined

const multiPrefix = 'multi:'
const adminKinds: Readonly<Record<string, string>> = {
  anp: 'AdminNetworkPolicy',
  banp: 'BaselineAdminNetworkPolicy',
  cnp: 'ClusterNetworkPolicy',
}

/** What the keys of each feature are that has rows, by its name in the mark `owner`. */
const keysOf: Readonly<Record<string, ObjectsOf>> = {
  'acl-sampling': whole('app', 'collector'),
  'admin-policy': (key) => {
    const [short = '', name = ''] = key.split('/')
    const kind = adminKinds[short]
    return kind === undefined ? undefined : named(kind)(name)
  },
  'chassis-variables': named('Node'),
  'egress-firewall': (key) => (key === 'inside' ? [] : inNamespace('EgressFirewall')(key)),
  'ip-pool': named('IPPool'),
  'load-balancer': named('Vpc'),
  'network-policy': (key) =>
    key.startsWith(multiPrefix)
      ? inNamespace('MultiNetworkPolicy')(key.slice(multiPrefix.length))
      : inNamespace('NetworkPolicy')(key),
  node: named('Node'),
  'node-addresses': (key) => (/^\w+$/.test(key) ? [] : undefined),
  'ovn-eip': named('OvnEip'),
  'own-node': named('Node'),
  // A machine of KubeVirt has one name for both of its pods while it moves.
  'pod-port': (key) => {
    const pod = inNamespace('Pod')(key)
    return pod && [...pod, { kind: 'VirtualMachine', key }]
  },
  'security-group': named('SecurityGroup'),
  service: inNamespace('Service'),
  sg: whole('deny-all'),
  subnet: named('Subnet'),
  'subnet-acl': named('Subnet'),
  'subnet-dhcp': named('Subnet'),
  'subnet-egress': named('Subnet'),
  'subnet-gw': ofSubnetOnNode,
  'subnet-localnet': named('Subnet'),
  'subnet-multicast': named('Subnet'),
  'subnet-u2o': named('Subnet'),
  'subnet-u2o-lb': ofSubnetOnNode,
  'subnet-vip': named('Subnet'),
  vip: named('Vip'),
  vpc: named('Vpc'),
  'vpc-bfd': named('Vpc'),
  'vpc-external': named('Vpc'),
  'vpc-peering': named('Vpc'),
  'vpc-policy': named('Vpc'),
  'vpc-route': named('Vpc'),
}

/** The features whose rows are known to be of objects. */
export const featuresWithRows: readonly string[] = Object.keys(keysOf)

/**
 * The objects that the rows of an owner are of, by `FEATURE/KEY`; none for what is there once, and `undefined` for what no owner of ours
 * can be.
 */
export function objectsOfOwner(owner: string): readonly RowObject[] | undefined {
  const slash = owner.indexOf('/')
  if (slash <= 0 || !Object.hasOwn(keysOf, owner.slice(0, slash))) return undefined
  return keysOf[owner.slice(0, slash)]?.(owner.slice(slash + 1))
}

/** A row of the Northbound as far as it says whose it is. */
export interface MarkedRow {
  readonly table: string
  readonly name: string
  readonly externalIds: ReadonlyMap<string, string>
}

/** Of a row without a mark of ours. */
const nobody = 'nobody of ours'
const notAdopted = `${vendor}, not adopted yet`

/** FEATURE/KEY of a row; words that have no slash where it says nothing of the kind. */
export function ownerOfRow({ table, name, externalIds }: MarkedRow): string {
  const marked = externalIds.get(externalId.owner)
  if (marked !== undefined) return marked
  // Rows of this table have no place for marks.
  const vpc = table === 'Load_Balancer_Group' ? vpcOfBalancerGroup(name) : undefined
  if (vpc !== undefined) return `load-balancer/${vpc}`
  return externalIds.get(externalId.vendor) === vendor ? notAdopted : nobody
}

/** Tables of the Northbound whose rows are of objects: all but those in which OVN keeps what it goes by itself. */
export const objectTables = [
  'Logical_Switch',
  'Logical_Switch_Port',
  'Logical_Router',
  'Logical_Router_Port',
  'Logical_Router_Static_Route',
  'Logical_Router_Policy',
  'ACL',
  'Port_Group',
  'Address_Set',
  'Load_Balancer',
  'Load_Balancer_Group',
  'Load_Balancer_Health_Check',
  'Chassis_Template_Var',
  'NAT',
  'DHCP_Options',
  'DNS',
  'QoS',
  'Meter',
  'Meter_Band',
  'BFD',
  'Gateway_Chassis',
  'HA_Chassis_Group',
  'HA_Chassis',
  'Copp',
  'Mirror',
  'Forwarding_Group',
  'Static_MAC_Binding',
  'Sample',
  'Sample_Collector',
  'Sampling_App',
] as const

/** A row with what leads to it, or from it. */
export interface SampledRow extends MarkedRow {
  readonly row: string
  /** Of an ACL: the row of `Sample` that its packets make; empty for none. */
  readonly sample: string
}

/** The rows of the whole Northbound and their owners: a sample has no marks, and is that of the ACL which refers to it. */
export function ownersOfRows<R extends SampledRow>(
  rows: readonly R[],
): readonly { readonly row: R; readonly owner: string }[] {
  const sampledBy = new Map(
    rows.flatMap((row) =>
      row.table === 'ACL' && row.sample !== '' ? [[row.sample, ownerOfRow(row)] as const] : [],
    ),
  )
  return rows.map((row) => ({
    row,
    owner: (row.table === 'Sample' ? sampledBy.get(row.row) : undefined) ?? ownerOfRow(row),
  }))
}

/** A row of which nobody can say which object it is of, and what is told in the place of that. */
interface UnexplainedRow<R extends SampledRow> {
  readonly row: R
  readonly owner: string
  /** Table and name of the row, its marks, and whose it is. */
  readonly text: string
}

/** The rows of the whole Northbound that are of no object, and of nothing that is there once. */
export function unexplainedRows<R extends SampledRow>(rows: readonly R[]): readonly UnexplainedRow<R>[] {
  return ownersOfRows(rows)
    .filter(({ owner }) => objectsOfOwner(owner) === undefined)
    .map(({ row, owner }) => {
      const marks = [...row.externalIds].map(([key, value]) => `${key}=${value}`).join(', ')
      const text = `${row.table} ${row.name || row.row} {${marks}}: ${owner === nobody ? owner : `of ${owner}`}`
      return { row, owner, text }
    })
}
