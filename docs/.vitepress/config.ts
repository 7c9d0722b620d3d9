import { defineConfig } from 'vitepress'

export default defineConfig({
  title: 'Kube-OVN in TypeScript',
  description: 'OVN network for Kubernetes',
  cleanUrls: true,
  themeConfig: {
    search: { provider: 'local' },
    sidebar: [
      {
        text: 'Use',
        items: [
          { text: 'Installation', link: '/user/installation' },
          { text: 'Subnets, pods, addresses', link: '/user/subnets-and-pods' },
          { text: 'VPCs', link: '/user/vpcs' },
          { text: 'Static addresses', link: '/user/static-addresses' },
          { text: 'Policies', link: '/user/policies' },
          { text: 'Services', link: '/user/services' },
          { text: 'TLS of the databases', link: '/user/tls' },
          { text: 'Announce addresses by BGP', link: '/user/bgp' },
          { text: 'kubectl ko', link: '/user/kubectl-ko' },
          { text: 'Monitoring', link: '/user/monitoring' },
          { text: 'When an alert fires', link: '/user/runbooks/' },
          { text: 'Pinger', link: '/user/pinger' },
          { text: 'Deletions that are held back', link: '/user/held-deletions' },
          { text: 'How long an attachment takes', link: '/user/attachment-time' },
          { text: 'Addresses that contradict each other', link: '/user/address-findings' },
          { text: 'Differences from Kube-OVN', link: '/differences' },
        ],
      },
      {
        text: 'Reference',
        items: [
          { text: 'Custom resources', link: '/reference/crds/' },
          { text: 'Annotations and labels', link: '/reference/annotations' },
          { text: 'Metrics', link: '/reference/metrics' },
          { text: 'Errors', link: '/reference/errors' },
          { text: 'Commands of kubectl ko', link: '/reference/kubectl-ko/' },
        ],
      },
      {
        text: 'Develop',
        items: [
          { text: 'Architecture', link: '/architecture' },
          { text: 'The lab', link: '/lab' },
          { text: 'Adding a feature', link: '/adding-a-feature' },
          { text: 'The reconcile kernel', link: '/design/kernel' },
          { text: 'Derived tables', link: '/design/tables' },
          { text: 'The kernel of a node', link: '/design/node-kernel' },
          { text: 'Services without kube-proxy', link: '/design/node-services' },
          { text: 'Probes of kubelets', link: '/design/node-kubelet-probes' },
          { text: 'Routers in underlays', link: '/design/node-router-macs' },
          { text: 'Ways out for VPCs', link: '/design/node-eip' },
          { text: 'Design of each feature', link: '/design/' },
        ],
      },
    ],
  },
})
