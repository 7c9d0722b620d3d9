import { withSampling } from '@kube-ovn/domains-control/policies'
import {
  adminPolicyAcl,
  adminPolicyAddresses,
  adminPolicyPortGroup,
  type AdminPolicyKind,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { desiredAdminPolicy } from './desired.ts'
import { observeAdminPolicy, type AdminPolicySnapshot } from './snapshot.ts'
import { adminResources } from './told.ts'

/** Enforces what administrators say before and after NetworkPolicies. Keys are `anp/name`, `banp/name` and `cnp/name`. */
export const adminPolicy = withSampling<string, AdminPolicySnapshot>({
  name: 'admin-policy',
  kinds: [adminPolicyPortGroup, adminPolicyAddresses, adminPolicyAcl],
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
  observe: (key, world) => {
    const [kind = '', name = ''] = key.split('/')
    return observeAdminPolicy(kind as AdminPolicyKind, name, world)
  },
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredAdminPolicy(snapshot)),
})
