import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ownKinds } from './finalizers.ts'

const hook = new URL('../../../helm/kube-ovn/templates/hooks/post-delete.yaml', import.meta.url)

it('may list and patch objects of every kind that there is', () => {
  const rule = /apiGroups: \[kubeovn\.io\]\s+resources: \[([^\]]*)\]\s+verbs: \[([^\]]*)\]/
  const [, resources = '', verbs = ''] = rule.exec(readFileSync(hook, 'utf8')) ?? []
  expect(resources.split(', ').toSorted()).toEqual(ownKinds.map(({ plural }) => plural).toSorted())
  expect(verbs.split(', ')).toEqual(expect.arrayContaining(['list', 'patch']))
})
