import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { named, type Operation, OvsdbClient } from 'ovsdb-client'

/** A block is a switch with ports, and groups of these ports, each with an address set and half of them with a rule. */
const block = { ports: 50_000, groups: 2_000, rules: 999 } as const

export const rowsPerBlock = 1 + block.ports + 2 * block.groups + block.rules

const portsPerGroup = 25
const portsPerTransaction = 2_500
const groupsPerTransaction = 500
const nodes = 1_000
const namespaces = 100

/** The indexes that the kernel has over these tables, and one over names. */
export const contentTables = {
  Logical_Switch: { indexes: ['ports', 'external_ids:owner', 'external_ids:id'] },
  Logical_Switch_Port: { indexes: ['name', 'external_ids:owner', 'external_ids:id'] },
  Port_Group: { indexes: ['ports', 'acls', 'external_ids:owner', 'external_ids:id'] },
  Address_Set: { indexes: ['external_ids:owner', 'external_ids:id'] },
  ACL: { indexes: ['external_ids:owner', 'external_ids:id'] },
} as const

/** Adds a block of rows as the controller writes them, in few transactions. */
export async function addBlock(address: string, number: number): Promise<void> {
  await using client = new OvsdbClient<OvnNorthbound>({
    endpoints: [address],
    schema: ovnNorthboundSchema,
    tables: {},
    inactivityProbeMs: 0,
  })
  await client.connect()
  const ports = await addSwitch(client, number)
  for (const indexes of batches(number * block.groups, block.groups, groupsPerTransaction)) {
    await client.transact(indexes.flatMap((index) => addGroup(client, index, ports)))
  }
}

/** Answers the ids of the ports. */
async function addSwitch(
  client: OvsdbClient<OvnNorthbound>,
  number: number,
): Promise<ReadonlyMap<number, string>> {
  const { insert } = client.operations
  const name = switchName(number)
  const [result] = await client.transact([
    insert('Logical_Switch', {
      name,
      other_config: { subnet: `10.${number * 4}.0.0/14`, exclude_ips: `10.${number * 4}.0.1` },
      external_ids: marks('subnet', name, 'logical-switch', name),
    }),
  ])
  const uuids = new Map<number, string>()
  for (const indexes of batches(number * block.ports, block.ports, portsPerTransaction)) {
    const results = await client.transact(addPorts(client, String(result?.uuid), indexes))
    for (const [place, index] of indexes.entries()) uuids.set(index, String(results[place]?.uuid))
  }
  return uuids
}

/** One insertion for each port, then one mutation for all. */
export function addPorts(
  { operations: { insert, mutate } }: OvsdbClient<OvnNorthbound>,
  logicalSwitch: string,
  indexes: readonly number[],
): readonly Operation[] {
  const joined = indexes.map((index) => named(`port${index}`))
  return [
    ...indexes.map((index) => insert('Logical_Switch_Port', portColumns(index), `port${index}`)),
    mutate('Logical_Switch', logicalSwitch, [['ports', 'insert', joined]]),
  ]
}

export function portName(index: number): string {
  return `${podName(index)}.${namespace(index)}`
}

function portColumns(index: number): Partial<OvnNorthbound['Logical_Switch_Port']> {
  const pod = `${namespace(index)}/${podName(index)}`
  return {
    name: portName(index),
    addresses: [`${mac(index)} ${address4(index)}`],
    external_ids: {
      ...marks('pod-port', pod, 'pod-port', portName(index)),
      ls: switchName(Math.floor(index / block.ports)),
      pod,
    },
  }
}

function addGroup(
  { operations: { insert } }: OvsdbClient<OvnNorthbound>,
  index: number,
  ports: ReadonlyMap<number, string>,
): readonly Operation[] {
  const first = Math.floor(index / block.groups) * block.ports + (index % block.groups) * portsPerGroup
  const members = Array.from({ length: portsPerGroup }, (_, place) => first + place)
  const name = `group.${index}`
  const policy = `${namespace(index)}/policy-${index}`
  const mark = (kind: string): Readonly<Record<string, string>> => marks('network-policy', policy, kind, name)
  const rule = {
    direction: 'to-lport',
    priority: 2001,
    match: `outport == @${name} && ip4.src == $${name}.ingress && tcp.dst == ${1024 + (index % nodes)}`,
    action: 'allow-related',
    external_ids: mark('acl'),
  }
  const hasRule = index % block.groups < block.rules
  return [
    ...(hasRule ? [insert('ACL', rule, `rule${index}`)] : []),
    insert('Port_Group', {
      name,
      ports: members.flatMap((port) => ports.get(port) ?? []),
      acls: hasRule ? [named(`rule${index}`)] : [],
      external_ids: mark('port-group'),
    }),
    insert('Address_Set', {
      name: `${name}.ingress`,
      addresses: members.map(address4),
      external_ids: mark('address-set'),
    }),
  ]
}

function marks(feature: string, key: string, kind: string, id: string): Readonly<Record<string, string>> {
  return { vendor: 'kube-ovn', owner: `${feature}/${key}`, id: `${kind}/${id}` }
}

function switchName(number: number): string {
  return `subnet-${number}`
}

function namespace(index: number): string {
  return `shop-${index % namespaces}`
}

/** With a suffix like those that Kubernetes gives, but the same in every run. */
function podName(index: number): string {
  return `web-${((index + 1) * 2_654_435_761).toString(36).padStart(10, '0')}`
}

function mac(index: number): string {
  const hex = index.toString(16).padStart(6, '0')
  return `0a:58:0a:${hex.slice(0, 2)}:${hex.slice(2, 4)}:${hex.slice(4)}`
}

function address4(index: number): string {
  return `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`
}

function* batches(from: number, count: number, size: number): Generator<readonly number[]> {
  for (let first = from; first < from + count; first += size) {
    yield Array.from({ length: Math.min(size, from + count - first) }, (_, place) => first + place)
  }
}
