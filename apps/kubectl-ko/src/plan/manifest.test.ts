import { expect, it } from 'vitest'
import { readManifest } from './manifest.ts'

it('reads all documents, and the items of lists', () => {
  const text = `
apiVersion: v1
kind: Namespace
metadata: { name: a }
---
# nothing but a comment
---
apiVersion: v1
kind: List
items:
  - { apiVersion: v1, kind: Namespace, metadata: { name: b } }
  - { apiVersion: v1, kind: Namespace, metadata: { name: c } }
`
  expect(readManifest(text, 'x.yaml').map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c'])
})

it.each([
  ['', 'write a file with an object'],
  ['a: [', 'correct it'],
  ['kind: Subnet', 'write apiVersion, kind and metadata.name'],
  ['apiVersion: v1\nkind: List\nitems: [7]', 'write apiVersion'],
  ['- 1', 'write apiVersion'],
])('refuses %j', (text, cure) => {
  expect(() => readManifest(text, 'x.yaml')).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ cure: expect.stringContaining(cure) }) }),
  )
})
