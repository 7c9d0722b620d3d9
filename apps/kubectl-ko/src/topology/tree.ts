import type { Subnet, Vpc } from '@kube-ovn/kube-api'

export interface SubnetNode {
  readonly name: string
  readonly cidrs: readonly string[]
  readonly gateways: readonly string[]
  /** How traffic leaves the cluster. */
  readonly egress: string
  readonly egressKind: 'distributed' | 'centralized' | 'physical'
  readonly traits: readonly string[]
  readonly namespaces: readonly string[]
}

export interface VpcNode {
  readonly name: string
  readonly isDefault: boolean
  readonly subnets: readonly SubnetNode[]
  readonly peerings: readonly { readonly vpc: string; readonly address: string }[]
  readonly routes: readonly { readonly cidr: string; readonly nextHop: string; readonly table: string }[]
  readonly policies: readonly { readonly priority: number; readonly match: string; readonly action: string }[]
}

/** Where a Subnet is that names no VPC. */
const defaultVpc = 'ovn-cluster'

/** VPCs with all that is in them: the default one first, then by name. */
export function topologyOf(vpcs: readonly Vpc[], subnets: readonly Subnet[]): readonly VpcNode[] {
  const byVpc = Map.groupBy(subnets, ({ spec }) => spec?.vpc || defaultVpc)
  const named = new Map(vpcs.map((vpc) => [vpc.metadata.name, vpc]))
  const names = [...new Set([...named.keys(), ...byVpc.keys()])].toSorted(
    (a, b) => Number(b === defaultVpc) - Number(a === defaultVpc) || a.localeCompare(b),
  )
  return names.map((name) => {
    const { vpcPeerings = [], staticRoutes = [], policyRoutes = [] } = named.get(name)?.spec ?? {}
    return {
      name,
      isDefault: name === defaultVpc,
      subnets: (byVpc.get(name) ?? []).map(subnetNode).toSorted((a, b) => a.name.localeCompare(b.name)),
      peerings: vpcPeerings.map(({ remoteVpc = '', localConnectIP = '' }) => ({
        vpc: remoteVpc,
        address: localConnectIP,
      })),
      routes: staticRoutes.map(({ cidr = '', nextHopIP = '', routeTable = '' }) => ({
        cidr,
        nextHop: nextHopIP,
        table: routeTable,
      })),
      policies: policyRoutes.map(({ priority = 0, match = '', action = '' }) => ({
        priority,
        match,
        action,
      })),
    }
  })
}

function subnetNode({ metadata: { name }, spec = {}, status = {} }: Subnet): SubnetNode {
  const traits = [
    spec.default === true && 'default',
    spec.private === true && 'private',
    (spec.vlan ?? '') !== '' && `vlan ${spec.vlan ?? ''}`,
    spec.u2oInterconnection === true && 'connected to the router',
    spec.enableDHCP === true && 'DHCP',
    (spec.acls?.length ?? 0) > 0 && `${spec.acls?.length ?? 0} ACLs`,
  ]
  return {
    name,
    cidrs: (spec.cidrBlock ?? '').split(',').filter((cidr) => cidr !== ''),
    gateways: (spec.gateway ?? '').split(',').filter((gateway) => gateway !== ''),
    ...egressOf(spec, status),
    traits: traits.filter((trait) => trait !== false),
    namespaces: spec.namespaces ?? [],
  }
}

function egressOf(
  spec: NonNullable<Subnet['spec']>,
  status: NonNullable<Subnet['status']>,
): Pick<SubnetNode, 'egress' | 'egressKind'> {
  if ((spec.vlan ?? '') !== '' && spec.logicalGateway !== true)
    return { egress: 'by the physical gateway', egressKind: 'physical' }
  const how = spec.natOutgoing === true ? 'with NAT' : 'without NAT'
  if (spec.gatewayType !== 'centralized') return { egress: `on each node, ${how}`, egressKind: 'distributed' }
  const active = status.egress?.active?.join(', ') || status.activateGateway || spec.gatewayNode || 'no node'
  return { egress: `by ${active}, ${how}`, egressKind: 'centralized' }
}

/** The tree for terminals. */
export function renderTree(vpcs: readonly VpcNode[]): string {
  if (vpcs.length === 0) return 'no VPC, and no subnet\n'
  return vpcs
    .map((vpc) => {
      const { name, isDefault, subnets, peerings, routes, policies } = vpc
      const branches = [
        ...subnets.map(subnetBranch),
        ...peerings.map(({ vpc: remote, address }) => [`peering with ${remote} at ${address}`]),
        ...routes.map(({ cidr, nextHop, table }) => [
          `route ${cidr} by ${nextHop}${table === '' ? '' : ` in table ${table}`}`,
        ]),
        ...policies.map(({ priority, match, action }) => [`policy ${priority} ${match}: ${action}`]),
      ]
      return `vpc ${name}${isDefault ? ' (default)' : ''}\n${branchesText(branches)}`
    })
    .join('\n')
}

function subnetBranch({ name, cidrs, gateways, egress, traits, namespaces }: SubnetNode): readonly string[] {
  return [
    `subnet ${name}   ${cidrs.join(', ')}${traits.length === 0 ? '' : `   [${traits.join(', ')}]`}`,
    `gateway ${gateways.join(', ') || '-'}, out ${egress}`,
    ...(namespaces.length === 0 ? [] : [`namespaces ${namespaces.join(', ')}`]),
  ]
}

function branchesText(branches: readonly (readonly string[])[]): string {
  return branches
    .map(([first = '', ...rest], index) => {
      const isLast = index === branches.length - 1
      const lines = rest.map((line) => `${isLast ? ' ' : '│'}    ${line}\n`)
      return `${isLast ? '└─' : '├─'} ${first}\n${lines.join('')}`
    })
    .join('')
}
