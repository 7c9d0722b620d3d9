import { aclPriority, type PolicyDirection } from '@kube-ovn/ovn-names'

/** A row of the Northbound as far as it says which part of which policy it is. */
export interface PolicyRow {
  /** The mark `owner`: which feature's key wrote it. */
  readonly owner: string
  /** The mark `id`: kind and natural key. */
  readonly id: string
  /** Of an ACL, an address set, a port group or a meter. */
  readonly name: string
  /** Of an ACL; absent of all else. */
  readonly acl?: {
    readonly direction: string
    readonly tier: number
    readonly priority: number
    readonly action: string
    readonly match: string
  }
}

/** What a row of a policy is made of. */
export interface RowOrigin {
  readonly kind: string
  /** `namespace/name`, or the name of what has no namespace. */
  readonly key: string
  /** The part of the object, e.g. `spec.ingress[0]`; absent where it stands for the whole. */
  readonly field?: string
  /** What it is for, in words. */
  readonly role: string
}

/** The features whose rows are policies', by the names in marks of owners, and what objects their keys are. */
const origins: Readonly<Record<string, (key: string, row: PolicyRow) => RowOrigin | undefined>> = {
  'network-policy': (key, row) => {
    const isMulti = key.startsWith(multiPrefix)
    return {
      kind: isMulti ? 'MultiNetworkPolicy' : 'NetworkPolicy',
      key: isMulti ? key.slice(multiPrefix.length) : key,
      ...networkPolicyPart(row),
    }
  },
  'admin-policy': (key, row) => {
    const [short = '', name = ''] = key.split('/')
    const kind = adminKinds[short]
    return kind === undefined ? undefined : { kind, key: name, ...adminPolicyPart(row) }
  },
  'egress-firewall': (key, row) =>
    // What is inside of the cluster is so for all of them.
    key.includes('/') ? { kind: 'EgressFirewall', key, ...firewallPart(row) } : undefined,
  'security-group': (key, row) => ({ kind: 'SecurityGroup', key, ...securityGroupPart(row) }),
  'subnet-acl': (key, row) => ({ kind: 'Subnet', key, ...subnetPart(key, row) }),
}

const multiPrefix = 'multi:'

const adminKinds: Readonly<Record<string, string>> = {
  anp: 'AdminNetworkPolicy',
  banp: 'BaselineAdminNetworkPolicy',
  cnp: 'ClusterNetworkPolicy',
}

/** Leads from a row to the object and the rule that it is made of; none of what is no policy's. */
export function originOfRow(row: PolicyRow): RowOrigin | undefined {
  const slash = row.owner.indexOf('/')
  const [feature, key] = [row.owner.slice(0, slash), row.owner.slice(slash + 1)]
  return slash > 0 && Object.hasOwn(origins, feature) ? origins[feature]?.(key, row) : undefined
}

type Part = Pick<RowOrigin, 'field' | 'role'>

const wholes = {
  group: { role: 'the ports that it is for' },
  openConnections: { role: 'brings connections that are open to what stops packets' },
} as const

function directionOf(direction: string): PolicyDirection {
  return direction === 'to-lport' ? 'ingress' : 'egress'
}

function ruleIn(direction: string, place: string | undefined): string {
  return place === undefined || place === 'all' ? `spec.${direction}` : `spec.${direction}[${place}]`
}

/** Names of ACLs have the rule; one that was cut to what OVN takes has it in the name of its address set. */
function networkPolicyPart({ id, name, acl }: PolicyRow): Part {
  const set = /\.(ingress|egress)\.(allow|except)\.IPv([46])\.(\d+|all)\b/.exec(acl?.match ?? id)
  if (acl === undefined) {
    if (set === null) return id.startsWith('meter') ? { role: 'how much of it is logged' } : wholes.group
    const [, direction = '', verdict, family, place] = set
    const role =
      verdict === 'allow' ? `addresses of IPv${family} of its peers` : 'nothing, as in the original'
    return { field: ruleIn(direction, place), role }
  }
  if (acl.action === 'pass') return wholes.openConnections
  if (acl.action === 'allow-stateless') return { role: 'what neighbours of IPv6 are found by' }
  const direction = directionOf(acl.direction)
  if (acl.priority === aclPriority.policyDeny)
    return { field: 'spec.policyTypes', role: `denies what no rule for ${direction} allows` }
  const named = /\/(?:ingress|egress)\/IPv[46]\/(\d+|all)(\/ipBlock)?$/.exec(name)
  const place = named?.[1] ?? set?.[4]
  if (place === undefined && /\budp\.(?:src|dst)\b.*\budp\.(?:src|dst)\b/.test(acl.match))
    return { role: 'lets DHCP pass' }
  const what = named?.[2] === undefined ? 'peers' : 'blocks of addresses'
  return { field: ruleIn(direction, place), role: `allows ${what}` }
}

const does: Readonly<Record<string, string>> = {
  'allow-related': 'allows',
  drop: 'denies',
  pass: 'passes on',
}

function adminPolicyPart({ id, name, acl }: PolicyRow): Part {
  const set = /\.(ingress|egress)\.(\d+)\.[^\s]*?IPv([46])\b/.exec(acl?.match ?? id)
  if (acl === undefined) {
    if (set === null) return wholes.group
    const [, direction = '', place, family] = set
    return { field: ruleIn(direction, place), role: `addresses of IPv${family} of its peers` }
  }
  if (acl.priority === aclPriority.adminPassedOn && acl.action === 'pass') return wholes.openConnections
  const place = /\/(?:ingress|egress)\/IPv[46]\/(\d+)$/.exec(name)?.[1] ?? set?.[2]
  return { field: ruleIn(directionOf(acl.direction), place), role: does[acl.action] ?? acl.action }
}

function firewallPart({ id, name, acl }: PolicyRow): Part {
  if (acl === undefined) {
    const place = /\.(\d+)\.IPv[46]$/.exec(id)?.[1]
    return place === undefined
      ? wholes.group
      : { field: ruleIn('egress', place), role: 'addresses that it is about' }
  }
  if (acl.priority === aclPriority.firewallInside)
    return { role: 'leaves what is inside of the cluster alone' }
  if (acl.priority === aclPriority.followed) return { role: 'has connections followed, so that answers pass' }
  const place = /\/(\d+)$/.exec(name)?.[1] ?? String(aclPriority.firewallRules - acl.priority)
  return { field: ruleIn('egress', place), role: acl.action === 'drop' ? 'denies' : 'allows' }
}

function securityGroupPart({ id, acl }: PolicyRow): Part {
  if (acl === undefined) return id.startsWith('as') ? { role: 'addresses of its members' } : wholes.group
  if (acl.priority === aclPriority.securityGroupBase) return { role: 'lets through what ports always need' }
  if (acl.priority === aclPriority.sameSecurityGroup)
    return { field: 'spec.allowSameGroupTraffic', role: 'allows members' }
  const priority = aclPriority.securityGroupRules - acl.priority
  const field = `spec.${directionOf(acl.direction)}Rules of priority ${priority}`
  return { field, role: does[acl.action] ?? acl.action }
}

function subnetPart(subnet: string, { id, acl }: PolicyRow): Part {
  if (acl === undefined)
    return id.startsWith('meter')
      ? { field: 'spec.private', role: 'how much of what it denies is logged' }
      : { role: 'a part of it' }
  const [, about] = /^acl-private\/(.*)$/.exec(id) ?? []
  if (about === undefined) {
    if (acl.priority === aclPriority.passedOn && acl.action === 'pass') return wholes.openConnections
    const isInside = acl.priority === aclPriority.eastWest && acl.action === 'allow'
    const field = `spec.acls of priority ${acl.priority}${isInside ? ', or spec.allowEWTraffic' : ''}`
    return { field, role: `does ${acl.action}` }
  }
  const part = about.slice(subnet.length + 1)
  if (part === 'drop') return { field: 'spec.private', role: 'denies what comes from elsewhere' }
  const [, prefix] = /^allow\/(.*)$/.exec(part) ?? []
  if (prefix !== undefined) return { field: 'spec.allowSubnets', role: `allows ${prefix}` }
  return { field: 'spec.private', role: part.startsWith('own') ? 'allows itself' : 'allows nodes' }
}
