import { type Definition, customResourceDefinition } from '@kube-ovn/kube-api'
import { stringify } from 'yaml'

/** The CustomResourceDefinition as YAML, the same bytes for the same definition. */
export function renderManifest(definition: Definition): string {
  const crd = stringify(customResourceDefinition(definition), {
    lineWidth: 110,
    aliasDuplicateObjects: false,
  })
  return `# Generated from libs/model/kube-api by tools/generate/src/crds/main.ts. Do not edit.\n${crd}`
}
