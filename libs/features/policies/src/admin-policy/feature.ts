import { withSampling } from '@kube-ovn/domains-control/policies'
import { adminPolicyAcl, adminPolicyAddresses, adminPolicyPortGroup } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { adminResources, desiredAdminPolicy } from './desired.ts'
import { observeAdminPolicy, type AdminPolicySnapshot } from './snapshot.ts'

/** Enforces what administrators say before and after NetworkPolicies. Keys are `anp/name`, `banp/name` and `cnp/name`. */
export const adminPolicy = withSampling<string, AdminPolicySnapshot>({
  name: 'admin-policy',
  kinds: [adminPolicyPortGroup, adminPolicyAddresses, adminPolicyAcl],
  memberships: [
    { kind: adminPolicyPortGroup.name, column: 'acls' },
    { kind: adminPolicyAddresses.name, column: 'addresses' },
  ],
  triggers: Object.entries(adminResources).map(([kind, resource]) => ({
    on: 'object',
    resource,
    keys: ({ key }) => [`${kind}/${key}`],
  })),
  observe: observeAdminPolicy,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredAdminPolicy(snapshot)),
})
