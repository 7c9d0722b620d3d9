import { annotationHome } from './annotation-home.ts'
import { typescriptRuleTester } from './rule-tester.ts'

const errors = [{ messageId: 'key' }]

typescriptRuleTester().run('annotation-home', annotationHome, {
  valid: [
    `podAnnotations(provider).ipAddress.read(annotations)`,
    { name: 'the API group', code: `const group = 'kubeovn.io'` },
    { name: 'the API version', code: `const apiVersion = 'kubeovn.io/v1'` },
    { name: 'a path of the API', code: `client.get('/apis/kubeovn.io/v1/subnets')` },
    { name: 'a page', code: `const page = 'https://kubernetes.io/docs/reference/'` },
    {
      name: 'a path in a container',
      code: `const token = '/var/run/secrets/kubernetes.io/serviceaccount/token'`,
    },
    { name: 'a comment', code: `// ovn.kubernetes.io/ip_address comes first` },
  ],
  invalid: [
    { code: `annotations['ovn.kubernetes.io/ip_address']`, errors },
    { code: `const label = { 'kubernetes.io/hostname': name }`, errors },
    { code: `const finalizer = 'kubeovn.io/kube-ovn-controller'`, errors },
    { code: 'const key = `${provider}.kubernetes.io/logical_switch`', errors },
    { code: 'const key = `ovn.kubernetes.io/${name}`', errors },
    { name: 'the prefix by itself', code: `const prefix = 'ovn.kubernetes.io'`, errors },
  ],
})
