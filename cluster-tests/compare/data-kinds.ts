/** Kinds that only hold data: what their objects look like. */
import fc from "fast-check"
import { fields, orNull, sometimes } from "./fields.ts"
import { kind } from "./kind.ts"

export const configMaps = kind("v1", "ConfigMap", "configmaps", {
  parts: {
    data: sometimes(
      orNull(
        fc.dictionary(
          fc.constantFrom("k", "l"),
          orNull(fc.constantFrom("1", "2", "")) as fc.Arbitrary<unknown>,
          {
            maxKeys: 2
          }
        )
      )
    ),
    immutable: sometimes(fc.boolean(), 12)
  },
  status: undefined,
  pointers: ["/data", "/data/k", "/data/l", "/immutable"],
  edits: [
    { op: "add", path: "/data", value: { k: "1", l: "2" } },
    { op: "add", path: "/data/m", value: "3" },
    { op: "move", from: "/data/k", path: "/data/n" }
  ],
  fieldSelectors: []
})

export const secrets = kind("v1", "Secret", "secrets", {
  parts: {
    type: sometimes(fc.constantFrom("Opaque", "example.com/own"), 4),
    data: sometimes(orNull(fc.constantFrom<object>({}, { k: "YQ==" }, { k: "YQ==", l: "Yg==" }))),
    stringData: sometimes(fc.constantFrom<object>({ k: "b" }, { m: "c" }), 4),
    immutable: sometimes(fc.boolean(), 12)
  },
  status: undefined,
  pointers: ["/data", "/data/k", "/stringData", "/type"],
  edits: [
    { op: "add", path: "/data", value: { k: "Yg==" } },
    { op: "add", path: "/stringData", value: { n: "c" } }
  ],
  fieldSelectors: ["type=Opaque"]
})

export const leases = kind("coordination.k8s.io/v1", "Lease", "leases", {
  parts: {
    spec: sometimes(
      fields({
        holderIdentity: sometimes(orNull(fc.constantFrom("a", "b", ""))),
        leaseDurationSeconds: sometimes(fc.constantFrom(15, 0, -1), 3),
        renewTime: sometimes(
          fc.constantFrom("2020-01-01T00:00:00.000000Z", "2020-01-01T00:00:00.500000Z"),
          3
        ),
        leaseTransitions: sometimes(fc.constantFrom(0, 1, -1), 4)
      }),
      12
    )
  },
  status: undefined,
  pointers: ["/spec/holderIdentity", "/spec/leaseTransitions"],
  edits: [
    { op: "add", path: "/spec", value: { holderIdentity: "c" } },
    { op: "replace", path: "/spec/holderIdentity", value: "d" }
  ],
  fieldSelectors: []
})

export const accounts = kind("v1", "ServiceAccount", "serviceaccounts", {
  parts: {
    automountServiceAccountToken: sometimes(fc.boolean(), 3),
    imagePullSecrets: sometimes(
      fc.constantFrom<object>([], [{ name: "a" }], [{ name: "a" }, { name: "b" }]),
      3
    )
  },
  status: undefined,
  pointers: ["/imagePullSecrets/0", "/automountServiceAccountToken"],
  edits: [{ op: "add", path: "/imagePullSecrets", value: [{ name: "c" }] }],
  fieldSelectors: []
})

export const slices = kind("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", {
  parts: {
    addressType: fc.constantFrom("IPv4", "IPv4", "IPv4", "IPv6", "X"),
    // no empty list, which is stored as null: 5 in src/embedded/model.ts
    endpoints: fc.constantFrom<object>(
      [{ addresses: ["10.1.0.1"] }],
      [
        { addresses: ["10.1.0.1"], conditions: { ready: true }, nodeName: "n" },
        { addresses: ["10.1.0.2"], zone: "z" }
      ]
    ),
    ports: sometimes(
      orNull(
        fc.constantFrom<object>(
          [{ port: 80 }],
          [
            { name: "a", port: 80, protocol: "UDP" },
            { name: "b", port: 443 }
          ]
        )
      )
    )
  },
  status: undefined,
  pointers: ["/endpoints/0", "/endpoints/-", "/ports/0/port"],
  edits: [
    { op: "add", path: "/endpoints/-", value: { addresses: ["10.1.0.9"] } },
    { op: "add", path: "/ports", value: [{ port: 81 }] }
  ],
  fieldSelectors: []
})
