import { isNamedAfterGroup } from '@kube-ovn/domains-control'
import { withSampling } from '@kube-ovn/domains-control/policies'
import {
  adminPolicyAcl,
  adminPolicyAddresses,
  adminPolicyPortGroup,
  type AdminPolicyKind,
  adminPolicyGroupName,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { desiredAdminPolicy } from './desired.ts'
import { observeAdminPolicy, type AdminPolicySnapshot } from './snapshot.ts'
import { adminResources } from './told.ts'

/** Enforces what administrators say before and after NetworkPolicies. Keys are `anp/name`, `banp/name` and `cnp/name`. */
export const adminPolicy = withSampling<string, AdminPolicySnapshot>({
  name: 'admin-policy',
  kinds: [adminPolicyPortGroup, adminPolicyAddresses, adminPolicyAcl],
  mayOwn(key, { id }) {
    const [kind, name] = partsOf(key)
    return isNamedAfterGroup(adminPolicyGroupName(kind, name), id)
  },
  rights: Object.values(adminResources).map((resource) => ({
    ...{ resource, subresource: 'status', verbs: ['patch'] },
    writes: [{ metadata: { name: 'web' }, status: { conditions: [{ type: 'Ready', status: 'False' }] } }],
  })),
  memberships: [
    { kind: adminPolicyPortGroup.name, column: 'acls' },
    { kind: adminPolicyAddresses.name, column: 'addresses' },
  ],
  triggers: Object.entries(adminResources).map(([kind, resource]) => ({
    on: 'object',
    resource,
    keys: ({ key }) => [`${kind}/${key}`],
  })),
  observe: (key, world) => observeAdminPolicy(...partsOf(key), world),
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredAdminPolicy(snapshot)),
})

function partsOf(key: string): [kind: AdminPolicyKind, name: string] {
  const [kind = '', name = ''] = key.split('/')
  return [kind as AdminPolicyKind, name]
}
