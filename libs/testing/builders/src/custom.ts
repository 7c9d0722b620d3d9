import {
  apiVersion,
  type Ip,
  type IpSpec,
  type Subnet,
  type SubnetSpec,
  type SubnetStatus,
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

export interface IpFields extends IpSpec {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
}

/** An IP object: fields of the spec beside a name. */
export function ip(fields: IpFields): Ip {
  const { name, labels, ...spec } = fields
  return { apiVersion, kind: 'IP', metadata: { name, ...(labels === undefined ? {} : { labels }) }, spec }
}
