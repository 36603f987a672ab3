# Checks manifests. Usage:
# espalier show --resolved espalier.yaml --format json > resolved.json && conftest test --policy policy resolved.json
package main

import rego.v1

deny contains message if {
	some document in object.get(input, "documents", [])
	some name, branch in document.branches
	some replica in branch.replicas
	largest(replica) > largest(branch.primary)
	message := sprintf("%s: a replica of %s is larger than its primary", [document.project, name])
}

# A size is either a number of CU or a range.
largest(compute) := size if {
	size := compute.attributes.size.value
	is_number(size)
}

largest(compute) := compute.attributes.size.value.max
