import { isNamedAfterGroup } from '@kube-ovn/domains-control'
import { withSampling } from '@kube-ovn/domains-control/policies'
import { createHash } from 'node:crypto'
import { securityGroupResource, type SecurityGroupRule } from '@kube-ovn/kube-api'
import {
  securityGroupAcl,
  securityGroupAddresses,
  securityGroupPortGroup,
  securityGroupPortGroupName,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { desiredSecurityGroup } from './desired.ts'
import { rulesText } from './rules-text.ts'
import { observeSecurityGroup, type SecurityGroupSnapshot } from './snapshot.ts'

/** Keeps the port group of each SecurityGroup, with what its rules allow. Keys are names. */
export const securityGroup = withSampling<string, SecurityGroupSnapshot>({
  name: 'security-group',
  kinds: [securityGroupPortGroup, securityGroupAddresses, securityGroupAcl],
  mayOwn: (name, { id }) => isNamedAfterGroup(securityGroupPortGroupName(name), id),
  rights: [{ resource: securityGroupResource, subresource: 'status', verbs: ['patch'] }],
  memberships: [{ kind: securityGroupPortGroup.name, column: 'acls' }],
  triggers: [{ on: 'object', resource: securityGroupResource, keys: ({ key }) => [key] }],
  observe: observeSecurityGroup,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredSecurityGroup(snapshot, hashOf)),
})

function hashOf(rules: readonly SecurityGroupRule[]): string {
  return createHash('md5').update(rulesText(rules)).digest('hex')
}
