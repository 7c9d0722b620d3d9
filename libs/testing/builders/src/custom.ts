import {
  apiVersion,
  type Ip,
  type IpPool,
  type IpPoolSpec,
  type IpPoolStatus,
  type IpSpec,
  type Subnet,
  type SubnetSpec,
  type SubnetStatus,
  type Vip,
  type VipSpec,
  type VipStatus,
  type Vpc,
  type VpcSpec,
} from '@kube-ovn/kube-api'

export interface SubnetFields extends SubnetSpec {
  readonly name?: string
  readonly finalizers?: readonly string[]
  readonly deletionTimestamp?: string
  readonly status?: SubnetStatus
}

/** A subnet as a user writes it: fields of the spec beside a name. */
export function subnet(fields: SubnetFields = {}): Subnet {
  const { name = 'subnet', finalizers, deletionTimestamp, status, ...spec } = fields
  return {
    apiVersion,
    kind: 'Subnet',
    metadata: {
      name,
      ...(finalizers === undefined ? {} : { finalizers }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec: { cidrBlock: '10.1.0.0/16', ...spec },
    ...(status === undefined ? {} : { status }),
  }
}

export interface VpcFields extends VpcSpec {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
}

/** A VPC as a user writes it: fields of the spec beside a name. */
export function vpc(fields: VpcFields): Vpc {
  const { name, labels, creationTimestamp, deletionTimestamp, ...spec } = fields
  return {
    apiVersion,
    kind: 'Vpc',
    metadata: {
      name,
      ...(labels === undefined ? {} : { labels }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec,
  }
}

export interface IpFields extends IpSpec {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
}

/** An IP object: fields of the spec beside a name. */
export function ip(fields: IpFields): Ip {
  const { name, labels, ...spec } = fields
  return { apiVersion, kind: 'IP', metadata: { name, ...(labels === undefined ? {} : { labels }) }, spec }
}

export interface VipFields extends VipSpec {
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly status?: VipStatus
}

/** A Vip as a user writes it: fields of the spec beside a name. */
export function vip(fields: VipFields = {}): Vip {
  const { name = 'vip', labels, finalizers, status, ...spec } = fields
  return {
    apiVersion,
    kind: 'Vip',
    metadata: metadataOf({ name, labels, finalizers }),
    spec,
    ...(status === undefined ? {} : { status }),
  }
}

export interface IpPoolFields extends IpPoolSpec {
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly deletionTimestamp?: string
  readonly creationTimestamp?: string
  readonly status?: IpPoolStatus
}

/** An IPPool as a user writes it: fields of the spec beside a name. */
export function ipPool(fields: IpPoolFields): IpPool {
  const { name = 'pool', labels, finalizers, deletionTimestamp, creationTimestamp, status, ...spec } = fields
  return {
    apiVersion,
    kind: 'IPPool',
    metadata: {
      ...metadataOf({ name, labels, finalizers }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec,
    ...(status === undefined ? {} : { status }),
  }
}

function metadataOf(fields: {
  readonly name: string
  readonly labels: Readonly<Record<string, string>> | undefined
  readonly finalizers: readonly string[] | undefined
}): Vip['metadata'] {
  const { name, labels, finalizers } = fields
  return {
    name,
    ...(labels === undefined ? {} : { labels }),
    ...(finalizers === undefined ? {} : { finalizers }),
  }
}
