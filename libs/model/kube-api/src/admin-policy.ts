import type { Condition } from './conditions.ts'
import type { KubeObject, LabelSelector, Resource } from './core/index.ts'

/*
 * Kinds of the network policy API, reduced to the fields that are read here. Their definitions are not ours, and need not be installed.
 * Documentation of each field is the API's own: https://network-policy-api.sigs.k8s.io/api-overview/
 */

/** Which pods: exactly one of the fields is there. */
export interface AdminPolicySubject {
  /** All pods of these namespaces. */
  readonly namespaces?: LabelSelector
  /** Of the pods of these namespaces, those that the second selector selects. */
  readonly pods?: { readonly namespaceSelector?: LabelSelector; readonly podSelector?: LabelSelector }
}

/** Who: exactly one of the fields is there. Ingress knows those of a subject alone. */
export interface AdminPolicyPeer extends AdminPolicySubject {
  readonly nodes?: LabelSelector
  readonly networks?: readonly string[]
  readonly domainNames?: readonly string[]
}

/** Exactly one of the fields is there. */
export interface AdminPolicyPort {
  readonly portNumber?: { readonly protocol?: string; readonly port?: number }
  readonly portRange?: { readonly protocol?: string; readonly start?: number; readonly end?: number }
  readonly namedPort?: string
}

interface TransportMatch {
  readonly destinationPort?: {
    readonly number?: number
    readonly range?: { readonly start?: number; readonly end?: number }
  }
}

/** As {@link AdminPolicyPort}, of a ClusterNetworkPolicy. */
export interface AdminPolicyProtocol {
  readonly tcp?: TransportMatch
  readonly udp?: TransportMatch
  readonly sctp?: TransportMatch
  readonly destinationNamedPort?: string
}

export interface AdminPolicyRule {
  readonly name?: string
  /** `Allow` (of a ClusterNetworkPolicy `Accept`), `Deny` or `Pass`. */
  readonly action?: string
  readonly from?: readonly AdminPolicyPeer[]
  readonly to?: readonly AdminPolicyPeer[]
  readonly ports?: readonly AdminPolicyPort[]
  readonly protocols?: readonly AdminPolicyProtocol[]
}

interface AdminPolicyObject extends KubeObject {
  readonly spec?: {
    /** Of a ClusterNetworkPolicy: `Admin` or `Baseline`. */
    readonly tier?: string
    /** The lower, the earlier it is asked. A BaselineAdminNetworkPolicy has none. */
    readonly priority?: number
    readonly subject?: AdminPolicySubject
    readonly ingress?: readonly AdminPolicyRule[]
    readonly egress?: readonly AdminPolicyRule[]
  }
  readonly status?: {
    /** Those of metav1: they have no `lastUpdateTime`. */
    readonly conditions?: readonly Condition[]
  }
}

/** What an administrator allows or denies before NetworkPolicies are asked. */
export type AdminNetworkPolicy = AdminPolicyObject

/** What holds where no NetworkPolicy says anything. There is one, called `default`. */
export type BaselineAdminNetworkPolicy = AdminPolicyObject

/** Both, in the version of the API that followed. */
export type ClusterNetworkPolicy = AdminPolicyObject

const policyApi = { group: 'policy.networking.k8s.io', namespaced: false }

export const adminNetworkPolicyResource: Resource<AdminNetworkPolicy> = {
  ...policyApi,
  version: 'v1alpha1',
  kind: 'AdminNetworkPolicy',
  plural: 'adminnetworkpolicies',
}

export const baselineAdminNetworkPolicyResource: Resource<BaselineAdminNetworkPolicy> = {
  ...policyApi,
  version: 'v1alpha1',
  kind: 'BaselineAdminNetworkPolicy',
  plural: 'baselineadminnetworkpolicies',
}

export const clusterNetworkPolicyResource: Resource<ClusterNetworkPolicy> = {
  ...policyApi,
  version: 'v1alpha2',
  kind: 'ClusterNetworkPolicy',
  plural: 'clusternetworkpolicies',
}
