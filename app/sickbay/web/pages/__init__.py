"""The pages people see: each route reads, calls one verb, and renders one frozen object."""
